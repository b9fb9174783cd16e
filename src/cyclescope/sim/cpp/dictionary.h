// Numbers distinct values in the order in which they first appear.
#ifndef CYCLESCOPE_DICTIONARY_H
#define CYCLESCOPE_DICTIONARY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cyc {

constexpr uint32_t kNone = 0xffffffffu;

inline uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9e3779b97f4a7c15ull;
    return x ^ (x >> 29);
}

// Its values are vectors of `width` words.
class Dictionary {
public:
    explicit Dictionary(uint32_t width)
        : width_{width}, slots_(64, kNone), mask_{63} {}

    uint32_t number(const uint64_t* words) {
        uint64_t hash = 0;
        for (uint32_t i = 0; i < width_; ++i) hash = mix(hash + words[i]);
        for (uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
            const uint32_t found = slots_[at];
            if (found == kNone) return add(words, at);
            const uint64_t* const have = &words_[size_t{found} * width_];
            bool equal = true;
            for (uint32_t i = 0; i < width_; ++i) equal &= have[i] == words[i];
            if (equal) return found;
        }
    }

    // Values that no chunk has yet.
    const uint64_t* pending() const { return words_.data() + size_t{flushed_} * width_; }
    uint32_t pending_count() const { return count_ - flushed_; }
    void flushed() { flushed_ = count_; }
    uint32_t width() const { return width_; }

private:
    uint32_t add(const uint64_t* words, uint64_t at) {
        const uint32_t added = count_++;
        words_.insert(words_.end(), words, words + width_);
        slots_[at] = added;
        if (count_ * 2 > mask_) grow();
        return added;
    }
    void grow() {
        mask_ = mask_ * 2 + 1;
        slots_.assign(mask_ + 1, kNone);
        for (uint32_t i = 0; i < count_; ++i) {
            uint64_t hash = 0;
            for (uint32_t w = 0; w < width_; ++w) hash = mix(hash + words_[size_t{i} * width_ + w]);
            uint64_t at = hash & mask_;
            while (slots_[at] != kNone) at = (at + 1) & mask_;
            slots_[at] = i;
        }
    }

    uint32_t width_;
    uint32_t count_ = 0;
    uint32_t flushed_ = 0;
    std::vector<uint64_t> words_;
    std::vector<uint32_t> slots_;
    uint64_t mask_;
};

}  // namespace cyc

#endif
