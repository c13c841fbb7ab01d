// The handler of dry runs: what a client would get for an error. Nothing is stored, and nothing served.

import { type Preview, previewError } from '../../../errors/custom/preview.ts'
import { type ApiResponse, failures, success } from '../../http/envelope.ts'
import type { Api, ZoneCall } from '../../api/api-types.ts'
import { readPreview } from './preview-body.ts'

export async function previewZoneError({ body, zone }: ZoneCall, { zones }: Api): Promise<ApiResponse> {
  const ask = readPreview(body, zone, zones)
  if (!('code' in ask)) return failures(ask)
  const preview = previewError(ask, zones.customErrors(zone.name), {
    documentation: zones.documentation,
    operator: zone.errors.operator ?? null,
  })
  if (preview === null) throw new Error('the code of a preview was found, and then not')
  const { status, headers, source } = preview
  const rule = ruleOf(preview)
  return success({
    status,
    headers: Object.fromEntries(headers),
    body: preview.body,
    source,
    ...(rule !== null && { rule_id: rule }),
  })
}

/** Null without a rule, or for one of the configuration file, which has no id. */
function ruleOf({ rule }: Preview): string | null {
  return rule !== null && 'id' in rule ? (rule.id as string) : null
}
