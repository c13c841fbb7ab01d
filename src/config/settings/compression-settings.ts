// The settings of compression, which zones and routes have in common.

import { KiB, MiB } from '../../base/units.ts'
import type { CompressionConfig } from '../model/compression-config.ts'
import { contentCodings } from '../model/compression-config.ts'
import type { Findings } from '../file/mistake.ts'
import { refuseRepeats } from '../shape/name-checks.ts'
import { accept, oneOf, size, whole } from '../shape/rules.ts'
import {
  formed,
  group,
  list,
  mapping,
  optional,
  type Placed,
  placed,
  scalar,
  switched,
  type Value,
} from '../shape/shape.ts'

/** Types that compress well. Event streams are not among them: they must be listed by name. */
const usualTypes = [
  'text/*',
  'application/json',
  'application/*+json',
  'application/x-ndjson',
  'application/javascript',
  'application/xml',
  'application/*+xml',
  'application/wasm',
  'font/ttf',
  'font/otf',
  'image/svg+xml',
]

const token = "[\\w!#$&^.+'%`|~-]+"
const pattern = new RegExp(`^${token}/(?:\\*|\\*\\+${token}|${token})$`)

const mediaType = formed(
  text =>
    accept(
      pattern.test(text) ? text.toLowerCase() : undefined,
      'must be a media type such as text/html, text/* or application/*+json, without parameters',
    ),
  { pattern: pattern.source },
)

/** Higher levels are slower than most networks, and take tens of megabytes. */
const level = scalar(whole(1, 9))

/** Null for no compression. */
export const compression = switched(
  mapping({
    encodings: optional(list(placed(scalar(oneOf(...contentCodings))), { min: 1 }), null), // null: all
    levels: group({ zstd: optional(level, 3), br: optional(level, 4), gzip: optional(level, 5) }),
    types: optional(list(placed(scalar(mediaType)), { min: 1 }), null), // null: the usual
    minimum: optional(scalar(size(1, MiB)), KiB),
  }),
)

/** Returns the compression of responses, and records duplicates in lists; null for none. */
export function resolveCompression(
  settings: Value<typeof compression>,
  findings: Findings,
): CompressionConfig | null {
  if (settings === null) return null
  const { encodings, levels, types, minimum } = settings
  refuseRepeats(encodings ?? [], 'an encoding has one place in the order', findings)
  refuseRepeats(types ?? [], 'a type is listed once', findings)
  return {
    encodings: encodings === null ? contentCodings : valuesOf(encodings),
    levels,
    types: types === null ? usualTypes : valuesOf(types),
    minimum,
  }
}

function valuesOf<T>(items: readonly Placed<T>[]): T[] {
  return items.map(({ value }) => value)
}
