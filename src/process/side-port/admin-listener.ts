// The side port of a gateway, and its owner during a handover on this machine.

import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Lifecycle } from '../system/lifecycle.ts'
import { SidePortAuth } from '../../net/http/side-port-auth.ts'
import type { Logger } from '../../log/log.ts'
import type { Endpoint } from '../../config/model/config.ts'
import type { HandOver } from '../../admin/service/handover.ts'
import type { AdminServer } from '../../admin/server.ts'
import type { Timeouts } from './timeouts.ts'
import { type Before, HandoverNote, takeOver } from '../handover/takeover.ts'
import type { Inheritance } from '../handover/inheritance.ts'
import { isInUse, noneToReplace } from '../ports/listen-failure.ts'
import { PortSharing } from '../ports/port-sharing.ts'
import { Presence } from '../ports/presence.ts'

interface AdminListenerParts {
  readonly server: AdminServer
  readonly log: Logger
  readonly file: string
  readonly pages: (at: Endpoint) => string | null
  readonly replaces: boolean
  readonly inherited: Inheritance | null
  readonly timeouts: Timeouts
  readonly phase: () => Lifecycle['phase']
}

export class AdminListener {
  readonly #parts: AdminListenerParts
  readonly #endpoint: Endpoint
  #at: Endpoint
  #secret: Buffer = randomBytes(32)
  readonly #note = new HandoverNote()
  readonly #presence = new Presence()
  #succession: NodeJS.Timeout | undefined
  #sharing: PortSharing | null = null
  #isShared = false
  #looks = 0
  readonly #replaced = Promise.withResolvers<void>()
  #before: Before | null = null

  constructor(endpoint: Endpoint, parts: AdminListenerParts) {
    this.#endpoint = endpoint
    this.#at = endpoint
    this.#parts = parts
    parts.server.sidePortAuth = new SidePortAuth(this.#secret)
  }

  get at(): Endpoint {
    return this.#at
  }

  get secret(): Buffer {
    return this.#secret
  }

  get replaced(): Promise<void> {
    return this.#replaced.promise
  }

  get hasBefore(): boolean {
    return this.#before !== null
  }

  get isToSucceed(): boolean {
    return this.#before?.yields === false
  }

  get bequest(): Inheritance['admin'] {
    const { handle } = this.#parts.server
    return handle && { ...this.#endpoint, at: this.#at, handle }
  }

  async start(): Promise<void> {
    this.#at = await this.#listenOrTakeOver()
    if (this.isToSucceed) return
    await this.#leaveNote()
    await this.#showPresence()
  }

  async stop(): Promise<void> {
    clearInterval(this.#succession)
    this.#presence.hide()
    await this.#note.remove()
    await this.#parts.server.close()
  }

  /** The gateway that is being replaced stops by itself when it sees the note. */
  async succeed(): Promise<void> {
    const { server, inherited, timeouts } = this.#parts
    let sharing: PortSharing | null = null
    let yields = false
    for (let tries = 1; ; tries++) {
      try {
        this.#at = yields
          ? await this.#listenBeside(sharing)
          : await server.listen(this.#endpoint, inherited?.admin?.handle)
        break
      } catch (cause) {
        if (!isInUse(cause) || tries > timeouts.maxTries) throw cause
        sharing = await PortSharing.find()
        // A gateway that cannot share its socket releases it.
        const shares = sharing !== null && tries < timeouts.maxTries
        const before = await takeOver(this.#endpoint, { replaces: true, shares })
        yields = before?.yields === true
        // Another gateway is taking it over, and is the one to ask once it serves.
        if (before?.yields === false) await wait(timeouts.successionInterval)
      }
    }
    await this.#note.leave(this.#at, this.#secret)
    await this.#showPresence()
  }

  proves(authorization: string | null): boolean {
    return this.#note.proves(authorization)
  }

  /** Returns null if the next gateway does not belong to the same owner, false if it must wait. */
  async handOver(...[authorization, { replaces, shares }]: Parameters<HandOver>): Promise<boolean | null> {
    const { server, log, timeouts, phase: phaseNow } = this.#parts
    if (!this.#note.proves(authorization)) return null
    const sharing = shares ? await PortSharing.find() : null
    const phase = phaseNow()
    if (phase === 'starting' || (phase === 'running' && !replaces)) return false
    if (sharing === null) this.#stopSharing()
    // Of several, one after the other.
    else if (this.#sharing !== null) return false
    if (this.#share(sharing)) log.info('admin listener shared with the next gateway')
    else {
      server.hush()
      log.info('admin listener handed over')
    }
    clearInterval(this.#succession)
    if (phase === 'running' || this.#sharing !== null)
      this.#succession = setInterval(() => void this.#lookForNext(), timeouts.successionInterval).unref()
    return true
  }

  makeWay(): void {
    this.#parts.server.hush()
    this.#presence.hide()
    this.#replaced.resolve()
  }

  async goOn(): Promise<void> {
    await this.#leaveNote()
  }

  async #listenOrTakeOver(): Promise<Endpoint> {
    const { server, inherited, replaces } = this.#parts
    const endpoint = this.#endpoint
    const { admin = null, secret = null } = inherited ?? {}
    if (secret !== null) this.#vouchBy(secret)
    if (admin !== null && admin.host === endpoint.host && admin.port === endpoint.port) {
      if (secret === null) return server.listen(endpoint, admin.handle)
      this.#before = { yields: false, secret }
      return admin.at
    }
    admin?.handle.close()
    try {
      return await server.listen(endpoint)
    } catch (cause) {
      if (!isInUse(cause)) throw cause
      const sharing = await PortSharing.find()
      this.#before = await takeOver(endpoint, { replaces: false, shares: sharing !== null })
      const mayGoOn = this.#before !== null && (this.#before.yields || replaces)
      if (!mayGoOn) throw replaces ? noneToReplace(cause as Error, endpoint) : cause
      this.#vouchBy(this.#before!.secret)
      return this.#before!.yields ? this.#listenBeside(sharing) : endpoint
    }
  }

  /** Accepts the previous gateway's secret for client addresses too, while its edge drains. */
  #vouchBy(secret: Buffer): void {
    this.#secret = secret
    this.#parts.server.sidePortAuth = new SidePortAuth(secret)
  }

  async #listenBeside(sharing: PortSharing | null): Promise<Endpoint> {
    const { server } = this.#parts
    const at = await server.listen(this.#endpoint, null, sharing !== null)
    sharing?.leadToSecond(server.handle!)
    sharing?.allow(server.handle!, false)
    return at
  }

  /** Returns false if the system cannot share the port. */
  #share(sharing: PortSharing | null): boolean {
    const { server, timeouts } = this.#parts
    if (sharing === null || server.handle === null || !sharing.allow(server.handle, true)) return false
    this.#sharing = sharing
    this.#isShared = false
    this.#looks = timeouts.maxLooks
    server.leaving = true
    return true
  }

  #stopSharing(): void {
    const { server } = this.#parts
    if (this.#sharing === null || server.handle === null) return
    this.#sharing.allow(server.handle, false)
    this.#sharing = null
    server.leaving = false
  }

  /** Leaves the side port once the next gateway listens there too, or stops sharing it if none comes. */
  async #lookForNextBeside(): Promise<void> {
    const { server, log } = this.#parts
    if (await this.#note.isReplaced()) {
      // New connections go to the next gateway; those already under way arrive here until the next check.
      if (!this.#isShared) return void (this.#isShared = true)
      this.#sharing = null
      server.hush()
      log.info('admin listener handed over')
      await this.#lookForNext()
    } else if (--this.#looks <= 0) {
      clearInterval(this.#succession)
      this.#stopSharing()
      log.warn('admin listener kept: the new gateway ended')
    }
  }

  /** Takes the side port back if it is free; stops if the next gateway has it and confirms that. */
  async #lookForNext(): Promise<void> {
    const { server, log, phase } = this.#parts
    if (this.#sharing !== null) return this.#lookForNextBeside()
    if (phase() !== 'running') return clearInterval(this.#succession)
    try {
      await server.listen(this.#at)
    } catch {
      if (await this.#note.isReplaced()) this.#replaced.resolve()
      return
    }
    clearInterval(this.#succession)
    await this.#leaveNote()
    log.warn('admin listener taken back: the new gateway ended')
  }

  /** Without a note there is no handover; the gateway serves all the same. */
  async #leaveNote(): Promise<void> {
    const failed = (cause: unknown) =>
      this.#parts.log.warn(
        { err: cause },
        'admin listener handover unavailable: its note could not be written',
      )
    await this.#note.leave(this.#at, this.#secret).catch(failed)
  }

  async #showPresence(): Promise<void> {
    const failed = (cause: unknown) =>
      this.#parts.log.warn(
        { err: cause },
        'health --running unavailable: the address file could not be written',
      )
    const { file, pages } = this.#parts
    await this.#presence.show(() => ({ ...this.#at, file, pages: pages(this.#at) })).catch(failed)
  }
}
