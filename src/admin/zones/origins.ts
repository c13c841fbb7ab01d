// The handler that shows the origins of a zone.

import { type ApiResponse, success } from '../http/envelope.ts'
import type { Api, ZoneCall } from '../api/api-types.ts'

export async function listOrigins({ zone }: ZoneCall, { zones }: Api): Promise<ApiResponse> {
  return success(await zones.origins(zone.name))
}
