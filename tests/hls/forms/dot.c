void dot(const int *a, const int *b, int *out, int n) {
#pragma omp target parallel map(to : a[0:n], b[0:n]) map(tofrom : out[0:8]) num_threads(2)
    {
        int buffer[16];
        for (int i = 0; i < 16; i++) buffer[i] = a[i];
        int sum = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (b[i] > 0) sum += buffer[i & 15] * b[i];
        }
#pragma omp critical
        out[0] += sum;
    }
}
