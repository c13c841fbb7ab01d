// Lets `gatehouse health` find the gateways here, by abstract Unix sockets (unix(7)), which need no folder.

import { hash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import type { Endpoint } from '../../config/model/config.ts'
import { dataFolder } from '../store/location.ts'

interface RunningGateway extends Endpoint {
  readonly file: string
  /** Null without pages; absent in older versions. */
  readonly pages?: string | null
}

export class Presence {
  #server: Server | null = null

  async show(gateway: () => RunningGateway): Promise<void> {
    if (process.platform !== 'linux') return
    const server = createServer(socket => socket.on('error', ignore).end(JSON.stringify(gateway()))).unref()
    server.listen(`\0${namePrefix()}${process.pid}`)
    await once(server, 'listening')
    this.#server = server
  }

  hide(): void {
    this.#server?.close()
  }
}

/** Returns process ids; empty if none runs, or the system cannot tell. */
export function runningHere(): readonly number[] {
  try {
    const prefix = `@${namePrefix()}`
    const pids = new Set<number>()
    for (const [, inode, name] of readFileSync('/proc/net/unix', 'latin1').matchAll(namedSockets)) {
      const pid = name!.startsWith(prefix) ? Number(name!.slice(prefix.length)) : Number.NaN
      if (isOurs(pid) && holds(pid, inode!)) pids.add(pid)
    }
    return [...pids]
  } catch {
    return []
  }
}

/** Lines of the system's list of Unix sockets (proc_net(5)): inode and name. */
const namedSockets = /(\d+) (@gatehouse\/\S+)$/gm

/** Asks a gateway for the address of its side port; rejects if it does not reply. */
export async function adminOf(pid: number, signal: AbortSignal): Promise<RunningGateway> {
  const socket = connect({ path: `\0${namePrefix()}${pid}`, signal })
  return (await json(socket)) as RunningGateway
}

export async function gatewaysHere(): Promise<readonly RunningGateway[]> {
  const late = AbortSignal.timeout(timeout)
  const replies = await Promise.all(runningHere().map(pid => adminOf(pid, late).catch(() => null)))
  return replies.filter(gateway => gateway !== null)
}

/** Ms. */
const timeout = 2_000

/** Containers may share a network, and so names: only those that share process ids reach each other. */
function namePrefix(): string {
  const [namespace] = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))!
  const folder = hash('sha256', resolve(dataFolder())).slice(0, 16)
  return `gatehouse/${namespace}/${folder}/`
}

function isOurs(pid: number): boolean {
  const user = process.getuid!()
  const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid
  return owner !== undefined && (user === 0 || owner === user)
}

/** As far as the system reports it: any process can bind a name, including that of another one. */
function holds(pid: number, inode: string): boolean {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).some(fd => leadsTo(`${folder}/${fd}`, `socket:[${inode}]`))
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EACCES'
  }
}

function leadsTo(link: string, target: string): boolean {
  try {
    return readlinkSync(link) === target
  } catch {
    // It was closed in between.
    return false
  }
}

function ignore(): void {}
