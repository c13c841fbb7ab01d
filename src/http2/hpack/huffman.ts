// The Huffman code of header strings (RFC 7541 section 5.2 and appendix B), decoded with tables.

/** Bits of the code of each byte, and of the end of a string; the code is canonical, so its bits follow. */
const lengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28,
  28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7,
  8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19,
  13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13,
  28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21,
  22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23,
  22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25,
  25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
]

const end = 256
const maxBits = 30

/** By length: the first code, the index of its symbol in `byCode`, and the number of codes. */
const firstCode = new Uint32Array(maxBits + 1)
const firstPlace = new Uint16Array(maxBits + 1)
const counts = new Uint16Array(maxBits + 1)
const byCode = new Uint16Array(lengths.length)
/** By the next eight bits: length of the code times 256 plus its byte; 0 for a longer one. */
const short = new Uint16Array(256)

fillTables()

let scratch: Buffer = Buffer.allocUnsafeSlow(4096)

/** Decodes to latin1; null if invalid, or badly padded. */
export function decodeHuffman(bytes: Uint8Array, at: number, stop: number): string | null {
  // The shortest code has five bits.
  const maxLength = (((stop - at) * 8) / 5) | 0
  if (maxLength > scratch.length) scratch = Buffer.allocUnsafeSlow(maxLength * 2)
  const into = scratch
  let length = 0
  let held = 0
  let bits = 0
  while (true) {
    while (bits < 8 && at < stop) {
      held = (held << 8) | bytes[at++]!
      bits += 8
    }
    if (bits < 8) break
    const entry = short[(held >>> (bits - 8)) & 0xff]!
    if (entry !== 0) {
      into[length++] = entry
      bits -= entry >>> 8
      continue
    }
    // A longer code: read bit by bit after the first eight.
    let long = (held >>> (bits - 8)) & 0xff
    let size = 8
    bits -= 8
    while (true) {
      if (bits === 0) {
        // Padding is shorter than a byte.
        if (at === stop) return null
        held = bytes[at++]!
        bits = 8
      }
      long = (long << 1) | ((held >>> --bits) & 1)
      // One of 30 bits is a code, if not one of fewer.
      const offset = long - firstCode[++size]!
      if (offset >= counts[size]!) continue
      const symbol = byCode[firstPlace[size]! + offset]!
      if (symbol === end) return null
      into[length++] = symbol
      break
    }
  }
  while (bits >= 5) {
    const entry = short[(held << (8 - bits)) & 0xff]!
    const size = entry >>> 8
    if (size === 0 || size > bits) break
    into[length++] = entry
    bits -= size
  }
  // The rest is padding, only ones.
  const ones = (1 << bits) - 1
  return (held & ones) === ones ? into.toString('latin1', 0, length) : null
}

/** In a function, since V8 may compile the whole file for a top-level loop. */
function fillTables(): void {
  for (const length of lengths) counts[length]!++
  const places = new Uint16Array(maxBits + 1)
  for (let length = 1, code = 0, place = 0; length <= maxBits; length++) {
    code <<= 1
    firstCode[length] = code
    places[length] = firstPlace[length] = place
    code += counts[length]!
    place += counts[length]!
  }
  for (const [symbol, length] of lengths.entries()) {
    const place = places[length]!++
    byCode[place] = symbol
    const code = firstCode[length]! + place - firstPlace[length]!
    if (length <= 8) short.fill(length * 256 + symbol, code << (8 - length), (code + 1) << (8 - length))
  }
}
