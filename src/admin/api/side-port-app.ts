// What else the admin listener serves, beside its own table: whole requests below paths of their own.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Sender } from '../http/caller-address.ts'

export interface SidePortApp {
  /** Whether requests for this path, without its query, are for this face. */
  takes(path: string): boolean
  /** Serves a request. `svc-ray` and strict headers are set already, of which it may replace the latter; what it throws becomes a 500. */
  serve(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void>
}
