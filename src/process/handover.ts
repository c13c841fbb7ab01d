// How one gateway hands its side port to the next on the same machine. A note in the data folder proves that both are of one owner; gateway.ts leaves and
// uses it.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import type { Endpoint } from '../config/config.ts'
import { dataFolder } from './store-location.ts'
import { reachable } from './url.ts'

/** How long a gateway may take to hand over, in ms. */
const patience = 2_000

/** What lets the next gateway ask this one for its side port. */
export class HandoverNote {
  readonly #proof = randomBytes(32).toString('base64url')
  readonly #folder: string
  #path: string | null = null

  constructor(folder = dataFolder()) {
    this.#folder = folder
  }

  /** Leaves the note for a side port, in place of the one of a gateway before. */
  async leave(port: number): Promise<void> {
    const path = notePath(this.#folder, port)
    const draft = `${path}.${process.pid}`
    await mkdir(this.#folder, { recursive: true })
    await writeFile(draft, this.#proof, { mode: 0o600 })
    await rename(draft, path)
    this.#path = path
  }

  /** Removes the note, unless it is that of another gateway by now. */
  async remove(): Promise<void> {
    if (this.#path === null) return
    const isOurs = (await readNote(this.#path)) === this.#proof
    if (isOurs) await rm(this.#path, { force: true })
  }

  /** Whether an `Authorization` field shows that its sender has read the note. */
  proves(authorization: string | null): boolean {
    const shown = Buffer.from(authorization ?? '')
    const own = Buffer.from(`Bearer ${this.#proof}`)
    return shown.length === own.length && timingSafeEqual(shown, own)
  }
}

/**
 * Asks the gateway that listens at an endpoint for it; one that is not stopping hands it over only to a gateway that replaces it. Returns its process id once
 * the endpoint is free; null where nobody there hands it over.
 */
export async function takeOver(
  { host, port }: Endpoint,
  replaces: boolean,
  folder = dataFolder(),
): Promise<number | null> {
  const proof = await readNote(notePath(folder, port))
  if (proof === null) return null
  return ask({ host: reachable(host), port }, replaces, proof).catch(() => null)
}

function ask(endpoint: Endpoint, replaces: boolean, proof: string): Promise<number | null> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  const headers = { authorization: `Bearer ${proof}`, 'content-length': 0 }
  const path = replaces ? '/handover?replace' : '/handover'
  const signal = AbortSignal.timeout(patience)
  const asked = request({ ...endpoint, method: 'POST', path, headers, agent: false, signal }, response => {
    if (response.statusCode !== 200) {
      response.destroy()
      return resolve(null)
    }
    json(response).then(told => resolve((told as { pid: number }).pid), reject)
  })
  asked.once('error', reject).end()
  return promise
}

function notePath(folder: string, port: number): string {
  return join(folder, `side-port-${port}.handover`)
}

async function readNote(path: string): Promise<string | null> {
  return readFile(path, 'latin1').catch(() => null)
}
