// An app of the admin listener besides its own table: whole requests below paths of its own.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Sender } from '../http/caller-address.ts'

export interface SidePortApp {
  /** Whether requests for this path, without its query, are for this app. */
  takes(path: string): boolean
  /** `svc-ray` and strict headers are set already; an exception becomes a 500. */
  serve(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void>
}
