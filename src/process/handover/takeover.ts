// Lets one gateway replace another here; a note in the data folder proves that both have one owner.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { makeFolder } from '../../base/system/folders.ts'
import { request, whenFailed } from '../../net/http/node-http.ts'
import type { Endpoint } from '../../config/model/config.ts'
import { dataFolder } from '../store/location.ts'
import { reachable } from '../ports/urls.ts'

/** In ms: long enough for a machine under full load, where it could not be replaced otherwise. */
const timeout = 10_000
/** Longer than a gateway waits for its replacement, and for its workers; in ms. */
const commandTimeout = 90_000

interface Written {
  readonly proof: string
  /** In base64url; authenticates the edge to the side port, which requests through either gateway reach. */
  readonly secret: string
  readonly host: string
}

export interface Before {
  /** Whether it releases or shares the side port; unless it is stopping, only for its replacement. */
  readonly yields: boolean
  readonly secret: Buffer
}

/** The note that authorizes the next gateway to request the side port of this one. */
export class HandoverNote {
  readonly #proof = randomBytes(32).toString('base64url')
  readonly #folder: string
  #path: string | null = null

  constructor(folder = dataFolder()) {
    this.#folder = folder
  }

  async leave({ host, port }: Endpoint, secret: Buffer): Promise<void> {
    const path = notePath(this.#folder, port)
    const draft = `${path}.${process.pid}`
    const written: Written = { proof: this.#proof, secret: secret.toString('base64url'), host }
    await makeFolder(this.#folder)
    await writeFile(draft, JSON.stringify(written), { mode: 0o600 })
    await rename(draft, path)
    this.#path = path
  }

  /** Does nothing once another gateway has replaced the note. */
  async remove(): Promise<void> {
    if (this.#path !== null && (await this.#read())?.proof === this.#proof)
      await rm(this.#path, { force: true })
  }

  async isReplaced(): Promise<boolean> {
    const written = await this.#read()
    return written !== null && written.proof !== this.#proof
  }

  proves(authorization: string | null): boolean {
    const shown = Buffer.from(authorization ?? '')
    const own = Buffer.from(`Bearer ${this.#proof}`)
    return shown.length === own.length && timingSafeEqual(shown, own)
  }

  async #read(): Promise<Written | null> {
    return this.#path === null ? null : readNote(this.#path)
  }
}

interface Takeover {
  readonly replaces: boolean
  readonly shares?: boolean
}

/** Asks the gateway on this port to release or share it; null if the note belongs to no gateway there. */
export async function takeOver(
  { port }: Pick<Endpoint, 'port'>,
  { replaces, shares = false }: Takeover,
  folder = dataFolder(),
): Promise<Before | null> {
  const written = await readNote(notePath(folder, port))
  if (written === null) return null
  const query = [replaces && 'replace', shares && 'share'].filter(Boolean).join('&')
  const at = { host: reachable(written.host), port }
  const response = ask(at, query === '' ? '/handover' : `/handover?${query}`, written.proof, timeout)
  const { status } = await response.catch(() => ({ status: null }))
  if (status !== 200 && status !== 409) return null
  return { yields: status === 200, secret: Buffer.from(written.secret, 'base64url') }
}

type CommandOutcome = object | string | undefined

/** Asks the gateway on this port to reload, or to be replaced; resolves once that is done or refused. */
export async function command(
  name: 'reload' | 'upgrade',
  { port }: Pick<Endpoint, 'port'>,
  folder = dataFolder(),
): Promise<CommandOutcome> {
  const written = await readNote(notePath(folder, port))
  if (written === null) return undefined
  const response = ask({ host: reachable(written.host), port }, `/${name}`, written.proof, commandTimeout)
  return response.then(({ body }) => outcomeIn(body)).catch(() => undefined)
}

/** Returns undefined for another program, which may have taken over the port. */
function outcomeIn(body: string): CommandOutcome {
  const { done, reason, ...report } = JSON.parse(body) as Readonly<Record<string, unknown>>
  if (typeof reason === 'string') return reason
  return done === true ? report : undefined
}

interface Answer {
  readonly status: number | undefined
  readonly body: string
}

function ask(endpoint: Endpoint, path: string, proof: string, timeout: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const headers = { authorization: `Bearer ${proof}`, 'content-length': 0 }
  const signal = AbortSignal.timeout(timeout)
  const sent = request({ ...endpoint, method: 'POST', path, headers, agent: false, signal }, response => {
    text(response).then(body => resolve({ status: response.statusCode, body }), reject)
  })
  whenFailed(sent, reject)
  sent.end()
  return promise
}

function notePath(folder: string, port: number): string {
  return join(folder, `side-port-${port}.handover`)
}

async function readNote(path: string): Promise<Written | null> {
  try {
    const written: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isWritten(written) ? written : null
  } catch {
    return null
  }
}

function isWritten(value: unknown): value is Written {
  if (typeof value !== 'object' || value === null) return false
  return ['proof', 'secret', 'host'].every(
    name => typeof (value as Record<string, unknown>)[name] === 'string',
  )
}
