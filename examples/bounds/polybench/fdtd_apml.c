/* Finite differences in the time domain with an anisotropic perfectly matched layer. */
#ifndef CZ
#define CZ 32
#endif
#ifndef CYM
#define CYM 32
#endif
#ifndef CXM
#define CXM 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_fdtd_apml(REAL mui, REAL ch, REAL Ax[CZ + 1][CYM + 1], REAL Ry[CZ + 1][CYM + 1], REAL clf[CYM + 1][CXM + 1],
                      REAL tmp[CYM + 1][CXM + 1], REAL Bza[CZ + 1][CYM + 1][CXM + 1], REAL Ex[CZ + 1][CYM + 1][CXM + 1],
                      REAL Ey[CZ + 1][CYM + 1][CXM + 1], REAL Hz[CZ + 1][CYM + 1][CXM + 1], REAL czm[CZ + 1],
                      REAL czp[CZ + 1], REAL cxmh[CXM + 1], REAL cxph[CXM + 1], REAL cymh[CYM + 1], REAL cyph[CYM + 1])
{
    for (int z = 0; z < CZ; z++)
        for (int y = 0; y < CYM; y++) {
            for (int x = 0; x < CXM; x++) {
                clf[z][y] = Ex[z][y][x] - Ex[z][y + 1][x] + Ey[z][y][x + 1] - Ey[z][y][x];
                tmp[z][y] = (cymh[y] / cyph[y]) * Bza[z][y][x] - (ch / cyph[y]) * clf[z][y];
                Hz[z][y][x] = (cxmh[x] / cxph[x]) * Hz[z][y][x] + (mui * czp[z] / cxph[x]) * tmp[z][y]
                              - (mui * czm[z] / cxph[x]) * Bza[z][y][x];
                Bza[z][y][x] = tmp[z][y];
            }
            clf[z][y] = Ex[z][y][CXM] - Ex[z][y + 1][CXM] + Ry[z][y] - Ey[z][y][CXM];
            tmp[z][y] = (cymh[y] / cyph[y]) * Bza[z][y][CXM] - (ch / cyph[y]) * clf[z][y];
            Hz[z][y][CXM] = (cxmh[CXM] / cxph[CXM]) * Hz[z][y][CXM] + (mui * czp[z] / cxph[CXM]) * tmp[z][y]
                            - (mui * czm[z] / cxph[CXM]) * Bza[z][y][CXM];
            Bza[z][y][CXM] = tmp[z][y];
            for (int x = 0; x < CXM; x++) {
                clf[z][y] = Ex[z][CYM][x] - Ax[z][x] + Ey[z][CYM][x + 1] - Ey[z][CYM][x];
                tmp[z][y] = (cymh[CYM] / cyph[y]) * Bza[z][y][x] - (ch / cyph[y]) * clf[z][y];
                Hz[z][CYM][x] = (cxmh[x] / cxph[x]) * Hz[z][CYM][x] + (mui * czp[z] / cxph[x]) * tmp[z][y]
                                - (mui * czm[z] / cxph[x]) * Bza[z][CYM][x];
                Bza[z][CYM][x] = tmp[z][y];
            }
            clf[z][y] = Ex[z][CYM][CXM] - Ax[z][CXM] + Ry[z][CYM] - Ey[z][CYM][CXM];
            tmp[z][y] = (cymh[CYM] / cyph[CYM]) * Bza[z][CYM][CXM] - (ch / cyph[CYM]) * clf[z][y];
            Hz[z][CYM][CXM] = (cxmh[CXM] / cxph[CXM]) * Hz[z][CYM][CXM] + (mui * czp[z] / cxph[CXM]) * tmp[z][y]
                              - (mui * czm[z] / cxph[CXM]) * Bza[z][CYM][CXM];
            Bza[z][CYM][CXM] = tmp[z][y];
        }
}
