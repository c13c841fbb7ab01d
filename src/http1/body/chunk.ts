// Chunked bodies as we write them (RFC 9112 section 7.1).

/** Writes a chunk of at least one byte as text: copying a small one is cheaper than another write. */
export function chunkText(bytes: Buffer): string {
  return `${chunkSize(bytes.length)}${bytes.toString('latin1')}\r\n`
}

/** Writes the line that opens a chunk of at least one byte; the data and `CRLF` follow. */
export function chunkSize(length: number): string {
  return length < sizeLines.length ? sizeLines[length]! : `${length.toString(16)}\r\n`
}

/** For pieces of event streams. */
const sizeLines = Array.from({ length: 1024 }, (_, length) => `${length.toString(16)}\r\n`)

/** Writes the last chunk and the trailer section (flat, null for none). */
export function lastChunk(trailers: readonly string[] | null): string {
  if (trailers === null) return '0\r\n\r\n'
  let lines = '0\r\n'
  for (let i = 0; i < trailers.length; i += 2) lines += `${trailers[i]}: ${trailers[i + 1]}\r\n`
  return `${lines}\r\n`
}
