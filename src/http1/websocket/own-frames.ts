// Frames that the gateway itself sends to a client (RFC 6455 section 5.2).

const finalText = 0x81
const finalClose = 0x88
/** Bytes of a reason (RFC 6455 section 5.5). */
const longestReason = 123

/** Takes up to 65,535 bytes. */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  const head = length < 126 ? [length] : [126, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([finalText, ...head]), payload])
}

/** The reason is ASCII, and cut at what fits. */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason, 'latin1').subarray(0, longestReason)
  return Buffer.concat([Buffer.from([finalClose, 2 + text.length, code >> 8, code & 0xff]), text])
}
