// Finds which process listens on a port, as far as the system lets this user see it; Linux only.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { runningHere } from './presence.ts'

export interface PortOwner {
  readonly pid: number
  /** Its program, such as nginx: never its arguments, which may contain secrets. */
  readonly program: string
  readonly isGateway: boolean
}

export function ownerOf(port: number): PortOwner | null {
  try {
    const sockets = new Set(listeningOn(port).map(inode => `socket:[${inode}]`))
    if (sockets.size === 0) return null
    const pid = processes().find(pid => descriptorsOf(pid).some(target => sockets.has(target)))
    return pid === undefined ? null : { pid, program: programOf(pid), isGateway: runningHere().includes(pid) }
  } catch {
    return null
  }
}

/** Reads the tables of proc_net(5): address, port, state 0A, inode. */
function listeningOn(port: number): readonly string[] {
  const digits = port.toString(16).toUpperCase().padStart(4, '0')
  return ['tcp', 'tcp6'].flatMap(table => {
    const rows = readFileSync(`/proc/net/${table}`, 'latin1').split('\n').slice(1)
    return rows.flatMap(row => {
      const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/ +/)
      return state === '0A' && local.endsWith(`:${digits}`) ? [inode] : []
    })
  })
}

function processes(): readonly number[] {
  return readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? [Number(name)] : []))
}

/** Empty for a process of another user. */
function descriptorsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).map(fd => targetOf(`${folder}/${fd}`))
  } catch {
    return []
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    // It was closed in between.
    return ''
  }
}

function programOf(pid: number): string {
  return basename(readlinkSync(`/proc/${pid}/exe`))
}
