// The checksum CRC-32C (Castagnoli, RFC 3720 appendix B.4).

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) === 0 ? 0 : 0x82f63b78)
  return crc
})

/** Takes the bytes from `from` up to `to` as zeros. */
export function crc32c(bytes: Buffer, from = 0, to = from): number {
  let crc = -1
  for (let i = 0; i < bytes.length; i++) {
    const byte = i >= from && i < to ? 0 : bytes[i]!
    crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8)
  }
  return ~crc >>> 0
}
