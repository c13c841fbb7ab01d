// Translates images between a URL, as in chat, and a source, as in Messages.

import type { Place } from './place.ts'
import { map, record, text, variants, words } from './rules.ts'

type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
export type ImageSource =
  | { readonly type: 'base64'; readonly media_type: ImageType; readonly data: string }
  | { readonly type: 'url'; readonly url: string }

/** A `data:` URL (RFC 2397) or an https URL; without a regular expression, since images are large. */
export function sourceOfUrl(value: unknown, at: Place): ImageSource | undefined {
  if (typeof value !== 'string') return at.fault('must be a string')
  if (value.startsWith('https://')) return { type: 'url', url: value }
  const comma = value.indexOf(',')
  const type = /^data:([\w/+.-]{1,80});base64$/.exec(value.slice(0, Math.min(comma, 100)))?.[1]
  if (type === undefined) return at.fault('must be an https URL, or a data URL in base64')
  const media_type = imageType(type, at)
  return media_type && { type: 'base64', media_type, data: value.slice(comma + 1) }
}

const imageType = words<ImageType>({
  'image/jpeg': 'image/jpeg',
  'image/png': 'image/png',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
})

export const urlOfSource = variants('type', {
  base64: map(
    record({ type: text, media_type: imageType, data: text }, {}),
    ({ media_type, data }) => `data:${media_type};base64,${data}`,
  ),
  url: map(record({ type: text, url: text }, {}), ({ url }, at) =>
    /^https?:\/\//i.test(url) ? url : at.step('url').fault('must be an http or https URL'),
  ),
})
