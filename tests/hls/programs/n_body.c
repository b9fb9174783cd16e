#include "show.h"
#include <math.h>
#define N 12
typedef struct {
    float x, y, z, mass;
} body;
int main(void) {
    body bodies[N];
    float pull[N][3];
    for (int i = 0; i < N; ++i)
        bodies[i] = (body){i % 4, i / 4, i * 0.1f, i + 1};
    #pragma omp target parallel for schedule(static, 1) map(to: bodies) map(from: pull)
    for (int i = 0; i < N; ++i) {
        float x = 0, y = 0, z = 0;
        const body *other = bodies;
        for (int j = 0; j < N; ++j, ++other) {
            float dx = other->x - bodies[i].x, dy = other->y - bodies[i].y;
            float dz = other->z - bodies[i].z;
            float near = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float force = other->mass * near * near * near;
            x += dx * force;
            y += dy * force;
            z += dz * force;
        }
        pull[i][0] = x;
        pull[i][1] = y;
        pull[i][2] = z;
    }
    SHOW("%g", pull[3], 3);
}
