/* From each of some words to all of a dictionary: LOCAL: the dictionary is read once a thread. */
#include <stdio.h>
#include <omp.h>
#define WORDS 32
#define ENTRIES 24
static int words[WORDS], entries[ENTRIES], least[WORDS];
static void distances(int *w, int *d, int *r) {
    #pragma omp target parallel map(to: w[0:WORDS], d[0:ENTRIES]) map(from: r[0:WORDS]) \
        num_threads(4)
    {
#ifdef LOCAL
        int own[ENTRIES];
        for (int k = 0; k < ENTRIES; k++)
            own[k] = d[k];
#define ENTRY(k) own[k]
#else
#define ENTRY(k) d[k]
#endif
#ifdef REWRITTEN
        int word = omp_get_thread_num() * (WORDS / 4), stop = word + WORDS / 4;
        while (word < stop) {
            int here = w[word], low = 64, entry = 0;
            while (entry < ENTRIES) {
                int other = d[entry];
                unsigned both = (unsigned)(here ^ other);
                int apart = both & 15;
                low = low > apart ? apart : low;
                entry = entry + 1;
            }
            r[word] = low;
            word++;
        }
#else
        #pragma omp for
        for (int i = 0; i < WORDS; i++) {
            int mine = w[i], best = 64;
            for (int k = 0; k < ENTRIES; k++) {
                unsigned x = (unsigned)(mine ^ ENTRY(k));
                int far = x & 15;
                best = far < best ? far : best;
            }
            r[i] = best;
        }
#endif
    }
}
int main(void) {
    for (int i = 0; i < WORDS; i++)
        words[i] = i * 37 % 101;
    for (int i = 0; i < ENTRIES; i++)
        entries[i] = i * 53 % 97;
    distances(words, entries, least);
    for (int i = 0; i < WORDS; i++)
        printf("%d ", least[i]);
    printf("\n");
    return 0;
}
