// The input that a thread is working on, for another thread that waits for it in vain.

const head = 12

export class InputSlot {
  readonly shared: SharedArrayBuffer
  readonly #numbers: Int32Array
  readonly #bytes: Uint8Array

  /** Makes one for inputs up to some length, or shares one. */
  constructor(room: number | SharedArrayBuffer) {
    this.shared = typeof room === 'number' ? new SharedArrayBuffer(head + room) : room
    this.#numbers = new Int32Array(this.shared, 0, 3)
    this.#bytes = new Uint8Array(this.shared, head)
  }

  put(input: Buffer): void {
    this.#bytes.set(input.subarray(0, this.#bytes.length))
    this.#numbers[1] = input.length
    Atomics.add(this.#numbers, 0, 1)
  }

  /** Counts the inputs. */
  get serial(): number {
    return Atomics.load(this.#numbers, 0)
  }

  /** Asks the thread to end. */
  end(): void {
    Atomics.store(this.#numbers, 2, 1)
  }

  get isOver(): boolean {
    return Atomics.load(this.#numbers, 2) === 1
  }

  get input(): Buffer {
    return Buffer.from(this.#bytes.slice(0, this.#numbers[1]))
  }
}
