// The dashboard app of the side port: serves its pages and assets, and sends people to sign in.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { systemClock } from '../base/clock.ts'
import { pause } from '../base/turns/turns.ts'
import { readCookies } from '../pages/forms/cookies.ts'
import { type PageResponse, redirectTo, writePage } from '../pages/parts/layout.ts'
import { originOf, plainHttpPage } from '../pages/forms/own-origins.ts'
import { forged, sendPage } from '../pages/forms/sent-form.ts'
import { storePage } from '../pages/views/message.ts'
import { StoreUnreachable } from '../store/contract/store.ts'
import { Admission, type AdmissionParts, type Sender, toSignIn } from './admission.ts'
import { assetAt } from './assets.ts'
import { isOfDashboard, paths } from './page/paths.ts'
import { routes } from './routes.ts'

interface DashboardParts
  extends Omit<AdmissionParts, 'clock' | 'routes'>,
    Partial<Pick<AdmissionParts, 'clock'>> {
  /** Returns the origins of the pages; other hosts lead to the first. */
  readonly origins: () => readonly string[]
  /** Whether the edge trusts proxies in front of it, and so knows which clients used plain HTTP. */
  readonly knowsScheme: () => boolean
}

export class DashboardFace {
  readonly #parts: DashboardParts
  readonly #admission: Admission

  constructor(parts: DashboardParts) {
    this.#parts = parts
    this.#admission = new Admission({ clock: systemClock, ...parts, routes })
  }

  takes(path: string): boolean {
    return isOfDashboard(path)
  }

  async serve(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void> {
    const page = await this.#respond(request, sender)
    await pause()
    try {
      await sendPage(request, response, page)
    } catch (cause) {
      // A download that the store interrupts is not a bug; the part already sent cannot look complete.
      if (!(cause instanceof StoreUnreachable)) throw cause
    }
  }

  async #respond(request: IncomingMessage, sender: Sender): Promise<PageResponse> {
    try {
      return await this.#receive(request, sender)
    } catch (cause) {
      if (!(cause instanceof StoreUnreachable)) throw cause
      return writePage(storePage(cause))
    }
  }

  async #receive(request: IncomingMessage, sender: Sender): Promise<PageResponse> {
    const { origin, isOurs } = originOf(request.headers.host, this.#parts.origins())
    const url = URL.parse(request.url!, origin)
    if (url === null) return redirectTo(paths.root)
    const isKnown = sender.isVouched && this.#parts.knowsScheme()
    const plain = isKnown ? plainHttpPage(origin, request.url!, sender.base) : null
    if (plain !== null) return writePage(plain)
    const isForm = request.method === 'POST'
    const asset = isForm ? null : assetAt(url.pathname)
    if (asset !== null) return asset
    // Cookies belong to one host: under another of its names, people would have to sign in twice.
    if (!isOurs) return isForm ? writePage(forged(onward)) : redirectTo(origin + url.pathname + url.search)
    const { gatehouse: session } = readCookies(request.headers.cookie, origin.startsWith('https:'))
    const actor = session === null ? null : await this.#parts.people.sessions.find(session)
    if (session === null || actor === null) {
      const next = isForm ? this.#admission.pageOfForm(url.pathname) : url.pathname + url.search
      return toSignIn(next)
    }
    await pause()
    return this.#admission.admit({ request, url, sender, origin, actor, session })
  }
}

const onward = { href: paths.root, text: 'To the dashboard' }
