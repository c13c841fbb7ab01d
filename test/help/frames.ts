// Frames of WebSockets, written and read by hand (RFC 6455 section 5.2).

export interface Frame {
  readonly opcode: number
  readonly payload: Buffer
  readonly isFinal?: boolean
  readonly isMasked?: boolean
  /** Of a message that is compressed. */
  readonly isCompressed?: boolean
}

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export function frame({
  opcode,
  payload,
  isFinal = true,
  isMasked = false,
  isCompressed = false,
}: Frame): Buffer {
  const { length } = payload
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const head = Buffer.alloc(2 + extended)
  head[0] = (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode
  head[1] = (isMasked ? 0x80 : 0) | (extended === 0 ? length : extended === 2 ? 126 : 127)
  if (extended === 2) head.writeUInt16BE(length, 2)
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2)
  if (!isMasked) return Buffer.concat([head, payload])
  const key = Buffer.from([0x12, 0x34, 0x56, 0x78])
  return Buffer.concat([head, key, payload.map((byte, i) => byte ^ key[i % 4]!)])
}

export function closeFrame(code: number, isMasked = false): Buffer {
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  return frame({ opcode: opcodes.close, payload, isMasked })
}

/** Returns the code of a Close frame of two bytes that is masked. */
export function maskedCode(bytes: Buffer): number {
  const [first, second, a, b, , , high, low] = bytes
  if (bytes.length !== 8 || first !== 0x88 || second !== 0x82) return 0
  return ((high! ^ a!) << 8) | (low! ^ b!)
}
