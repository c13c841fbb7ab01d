// A number that another process counts up while this one reads it: a file of eight bytes, which both see at once.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { busyFolder } from '../load/launch.ts'

const length = 8
let made = 0

/** A file with one double, in the byte order of the machine. */
export class Counter {
  readonly path = join(busyFolder, `counter-${++made}`)
  readonly #file = openSync(this.path, 'w+')
  readonly #bytes = new DataView(new ArrayBuffer(length))

  constructor() {
    writeSync(this.#file, this.#bytes)
  }

  get value(): number {
    readSync(this.#file, this.#bytes, 0, length, 0)
    return this.#bytes.getFloat64(0, true)
  }

  close(): void {
    closeSync(this.#file)
  }
}
