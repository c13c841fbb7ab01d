// The handler that shows the origins of a zone.

import { type Answer, success } from '../envelope.ts'
import type { Api, ZoneCall } from '../row.ts'

export async function listOrigins({ zone }: ZoneCall, { zones }: Api): Promise<Answer> {
  return success(await zones.origins(zone.name))
}
