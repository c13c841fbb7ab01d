// Lets two gateways of one user share a port for the moment of a handover, so that it is never without a
// listener. Before and after, a program that binds it by mistake fails. (Linux remembers the last sharing: a
// program of the same user that asks to share the port could still bind it, and so could ask for it by the
// note in the data folder.) Node has no API for socket options, so the C library is called directly.

import type { SocketHandle } from '../../net/socket/listening-socket.ts'

// Of Linux (socket(7)), whose numbers are the same on all processors that Node supports.
const levelOfSockets = 1
const reusePort = 15
const attachReusePortFilter = 51
/** The classic BPF instruction that returns a constant. */
const returnConstant = 0x06

type SetOption = (fd: number, option: number, value: Uint8Array) => boolean

export class PortSharing {
  readonly #set: SetOption
  readonly #pointerTo: (bytes: Uint8Array) => bigint

  private constructor(set: SetOption, pointerTo: (bytes: Uint8Array) => bigint) {
    this.#set = set
    this.#pointerTo = pointerTo
  }

  /** Returns null on systems other than Linux, and if this Node cannot call the C library. */
  static async find(): Promise<PortSharing | null> {
    if (process.platform !== 'linux') return null
    try {
      const { dlopen, getRawPointer } = await import('node:ffi')
      const { functions } = dlopen(null, {
        setsockopt: { arguments: ['int32', 'int32', 'int32', 'buffer', 'uint32'], return: 'int32' },
      })
      const set = (fd: number, option: number, value: Uint8Array) =>
        functions.setsockopt(fd, levelOfSockets, option, value, value.length) === 0
      return new PortSharing(set, getRawPointer)
    } catch {
      return null
    }
  }

  /** Lets other sockets of this user listen on the port of a socket; returns false if the system refuses. */
  allow({ fd }: SocketHandle, isAllowed: boolean): boolean {
    return this.#set(fd, reusePort, bytesOf(new Int32Array([Number(isAllowed)])))
  }

  /** Leads new connections to the second listener; false if the system refuses, and spreads them. */
  leadToSecond({ fd }: SocketHandle): boolean {
    const filter = bytesOf(new Uint32Array([0, 1]))
    filter.set(bytesOf(new Uint16Array([returnConstant])))
    // struct sock_fprog: the number of instructions, and where they are.
    const program = new Uint8Array(16)
    program.set(bytesOf(new Uint16Array([1])))
    program.set(bytesOf(new BigUint64Array([this.#pointerTo(filter)])), 8)
    return this.#set(fd, attachReusePortFilter, program)
  }
}

/** In the order of this processor. */
function bytesOf({ buffer }: { readonly buffer: ArrayBuffer }): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer)
}
