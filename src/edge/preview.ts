// Step 6: the error that a client asked to see, at /cdn-cgi/error/{code} on every host that is served. Rules and limits apply to previews too, so it comes after them.

import { withoutQuery } from '../base/path/path.ts'
import { type Refusal, refusalFor } from '../errors/refusal.ts'
import type { Exchange } from './exchange.ts'

const previewPrefix = '/cdn-cgi/error/'

/** Whether a request is for a preview. */
export function asksForPreview(x: Exchange): boolean {
  return x.head.target.startsWith(previewPrefix)
}

/** Refuses a request for a preview with the error that it names, or with 404 where there is no such code. */
export function preview(x: Exchange): Refusal | null {
  if (!x.asksForPreview) return null
  x.isPreview = true
  return refusalFor(withoutQuery(x.head.target).slice(previewPrefix.length))
}
