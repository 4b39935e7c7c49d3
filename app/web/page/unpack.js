// Unpacks the program of the page, which xtask/src/web/page.rs packs with LZMA: properties, size of the dictionary, size, and a stream
// of bits, each with the probability that was learned for what stands before it. Browsers unpack gzip by themselves, but the program is
// a quarter smaller like this.
"use strict";

const loadscopeUnpack = (() => {
    const ONE = 1 << 11;
    const STATES = 12;

    const probabilities = (count) => new Uint16Array(count).fill(ONE >>> 1);

    return (packed) => {
        const view = new DataView(packed.buffer, packed.byteOffset);
        const literal = packed[0] % 9;
        const rest = (packed[0] - literal) / 9;
        const literalMask = (1 << rest % 5) - 1;
        const placeMask = (1 << (rest - rest % 5) / 5) - 1;
        const out = new Uint8Array(view.getUint32(5, true));
        let at = 18;
        let range = -1 >>> 0;
        let code = view.getUint32(14);

        // The next bit, with the probability in `table[index]`.
        const bit = (table, index) => {
            const probability = table[index];
            const bound = (range >>> 11) * probability;
            let found;
            if (code < bound) {
                range = bound;
                table[index] = probability + (ONE - probability >>> 5);
                found = 0;
            } else {
                range -= bound;
                code -= bound;
                table[index] = probability - (probability >>> 5);
                found = 1;
            }
            if (range < 0x1000000) {
                range = range * 256;
                code = code * 256 + packed[at++];
            }
            return found;
        };
        // A number of so many bits, the highest first.
        const number = (table, base, bits) => {
            let node = 1;
            for (let k = 0; k < bits; k += 1) {
                node = node << 1 | bit(table, base + node);
            }
            return node - (1 << bits);
        };
        // The lowest first.
        const reversed = (table, base, bits) => {
            let node = 1;
            let found = 0;
            for (let k = 0; k < bits; k += 1) {
                const next = bit(table, base + node);
                node = node << 1 | next;
                found |= next << k;
            }
            return found;
        };
        // Bits that are as likely as not.
        const direct = (bits) => {
            let found = 0;
            for (let k = 0; k < bits; k += 1) {
                range = range >>> 1;
                const next = code >= range ? 1 : 0;
                code -= next * range;
                found = found << 1 | next;
                if (range < 0x1000000) {
                    range = range * 256;
                    code = code * 256 + packed[at++];
                }
            }
            return found;
        };

        const lengths = () => ({ choice: probabilities(2), low: probabilities(16 << 3), mid: probabilities(16 << 3), high: probabilities(256) });
        const length = (table, place) => {
            if (bit(table.choice, 0) === 0) {
                return 2 + number(table.low, place << 3, 3);
            }
            if (bit(table.choice, 1) === 0) {
                return 10 + number(table.mid, place << 3, 3);
            }
            return 18 + number(table.high, 0, 8);
        };

        const literals = probabilities(0x300 << literal + rest % 5);
        const isMatch = probabilities(STATES << 4);
        const isAgain = probabilities(STATES);
        const isFirst = probabilities(STATES);
        const isFirstLong = probabilities(STATES << 4);
        const isSecond = probabilities(STATES);
        const isThird = probabilities(STATES);
        const slots = probabilities(4 << 6);
        const near = probabilities(128);
        const low = probabilities(16);
        const matches = lengths();
        const again = lengths();
        let state = 0;
        let first = 0;
        let second = 0;
        let third = 0;
        let fourth = 0;

        for (let to = 0; to < out.length;) {
            const place = to & placeMask;
            if (bit(isMatch, (state << 4) + place) === 0) {
                const before = to > 0 ? out[to - 1] : 0;
                const base = 0x300 * (((to & literalMask) << literal) + (before >>> 8 - literal));
                let node = 1;
                if (state >= 7) {
                    let like = out[to - first - 1];
                    while (node < 0x100) {
                        const expected = like >>> 7 & 1;
                        like <<= 1;
                        const next = bit(literals, base + (1 + expected << 8) + node);
                        node = node << 1 | next;
                        if (next !== expected) {
                            break;
                        }
                    }
                }
                while (node < 0x100) {
                    node = node << 1 | bit(literals, base + node);
                }
                out[to++] = node;
                state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
                continue;
            }
            let long;
            if (bit(isAgain, state) === 0) {
                fourth = third;
                third = second;
                second = first;
                long = length(matches, place);
                state = state < 7 ? 7 : 10;
                const slot = number(slots, Math.min(long - 2, 3) << 6, 6);
                if (slot < 4) {
                    first = slot;
                } else {
                    const bits = (slot >>> 1) - 1;
                    first = (2 | slot & 1) << bits;
                    first += slot < 14
                        ? reversed(near, first - slot, bits)
                        : (direct(bits - 4) << 4) + reversed(low, 0, 4);
                }
            } else {
                if (bit(isFirst, state) === 0) {
                    if (bit(isFirstLong, (state << 4) + place) === 0) {
                        state = state < 7 ? 9 : 11;
                        out[to] = out[to - first - 1];
                        to += 1;
                        continue;
                    }
                } else {
                    let distance = second;
                    if (bit(isSecond, state) !== 0) {
                        distance = third;
                        if (bit(isThird, state) !== 0) {
                            distance = fourth;
                            fourth = third;
                        }
                        third = second;
                    }
                    second = first;
                    first = distance;
                }
                long = length(again, place);
                state = state < 7 ? 8 : 11;
            }
            if (first >= to) {
                throw new Error("the page is damaged");
            }
            for (const end = Math.min(to + long, out.length); to < end; to += 1) {
                out[to] = out[to - first - 1];
            }
        }
        return out;
    };
})();
