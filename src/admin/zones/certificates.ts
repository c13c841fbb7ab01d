// The handler that shows the certificates of a zone.

import { viewHostCertificate } from '../../certificates/host-certificates.ts'
import { type ApiResponse, success } from '../http/envelope.ts'
import type { Api, ZoneCall } from '../api/api-types.ts'

export async function listCertificates({ zone }: ZoneCall, { zones }: Api): Promise<ApiResponse> {
  return success(zones.certificates(zone.name).map(viewHostCertificate))
}
