// The settings of the export of AI log entries.

import { isAbsolute } from 'node:path'
import { day, hour, KiB, MiB, minute, second, TiB } from '../../../base/units.ts'
import type { Reading } from '../../../base/text/quantity.ts'
import type { Findings } from '../../file/mistake.ts'
import type { LogExportConfig } from '../../model/log-export-config.ts'
import { httpScheme, isLoopback } from '../../shape/host-rules.ts'
import {
  accept,
  certificates,
  duration,
  durationOrOff,
  headerName,
  headerValue,
  secretKey,
  size,
  truth,
  wholeOrOff,
} from '../../shape/rules.ts'
import {
  dictionary,
  formed,
  mapping,
  oneOrMore,
  optional,
  type Placed,
  placed,
  required,
  type Rule,
  scalar,
  shorthand,
  type Value,
} from '../../shape/shape.ts'

const outputFile: Rule<string> = formed(
  text =>
    accept(
      isAbsolute(text) && !/[/\\]$/.test(text) && !/\p{Cc}/u.test(text) ? text : undefined,
      'must be the absolute path of a file, such as /var/log/gatehouse/ai-calls.ndjson',
    ),
  { pattern: '[^/\\\\]$' },
)

const file = shorthand(
  'path',
  mapping({
    path: required(scalar(outputFile)),
    max_size: optional(scalar(size(MiB, TiB)), 100 * MiB),
    max_age: optional(scalar(durationOrOff(minute, 365 * day)), 0),
    keep: optional(scalar(wholeOrOff(1, 100_000)), 10),
  }),
)

/** Accepts an https URL, or http on loopback. No flaw quotes it: its query may have a credential. */
const receiverUrl: Rule<string> = formed(readReceiverUrl, { pattern: httpScheme })

function readReceiverUrl(text: string): Reading<string> {
  const isUrl = /^https?:\/\/[!-~]{1,2000}$/.test(text) && !/[#@\\]/.test(text)
  const url = isUrl ? URL.parse(text) : null
  if (url === null) return { flaw: 'must be an https URL, without a user or a fragment' }
  const isPrivate = url.protocol === 'https:' || isLoopback(url.hostname.replace(/^\[|\]$/g, ''))
  return accept(isPrivate ? text : undefined, 'must use https, or http on loopback')
}

const receiverHeader: Rule<string> = formed(
  text => {
    const isOurs =
      /^(?:host|connection|keep-alive|te|trailer|upgrade|expect|transfer-.*|content-.*|svc-export-.*)$/i
    if (isOurs.test(text)) return { flaw: 'is a header that Gatehouse sets itself' }
    return headerName(text)
  },
  { ...headerName.form },
)

// Unprinted, since a credential may have been written in place of a mapping.
const https = mapping(
  {
    url: required(scalar(receiverUrl, { unprinted: true })),
    headers: optional(
      dictionary(receiverHeader, scalar(headerValue, { unprinted: true })),
      new Map<string, never>(),
    ),
    secrets: optional(placed(oneOrMore(scalar(secretKey, { unprinted: true }))), null),
    ca: optional(scalar(certificates, { unprinted: true }), null),
    timeout: optional(scalar(duration(100, 5 * minute)), 30 * second),
  },
  { unprinted: true },
)

export const logExport = placed(
  mapping(
    {
      file: optional(file, null),
      https: optional(https, null),
      payloads: optional(scalar(truth), false),
      delay: optional(scalar(duration(100, hour)), 5 * second),
      batch_size: optional(scalar(size(64 * KiB, 16 * MiB)), MiB),
      max_disk: optional(scalar(size(16 * MiB, TiB)), 1024 * MiB),
    },
    { unprinted: true },
  ),
)

/** Returns null after a mistake. */
export function resolveLogExport(
  setting: Placed<Value<typeof logExport>['value']>,
  findings: Findings,
): LogExportConfig | null {
  const { file, https, payloads, delay, batch_size: batchSize, max_disk: maxDisk } = setting.value
  const common = { payloads, delay, batchSize, maxDisk }
  if ((file === null) === (https === null)) {
    if (!findings.concern(setting.path)) findings.flaw(setting, 'must have either file or https')
    return null
  }
  if (file !== null) {
    const { path, max_size: maxSize, max_age: maxAge, keep } = file
    return path === null ? null : { destination: { kind: 'file', path, maxSize, maxAge, keep }, ...common }
  }
  const { url, headers, secrets: written, ca, timeout } = https!
  const secrets = (written?.value ?? []).filter(secret => secret !== null)
  if (written !== null && secrets.length > maxSecrets)
    findings.flaw(written, `must have at most ${maxSecrets} secrets: the new one, and the one it replaces`)
  if (url === null) return null
  const named = [...headers].flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return { destination: { kind: 'https', url, headers: named, secrets, ca, timeout }, ...common }
}

const maxSecrets = 2
