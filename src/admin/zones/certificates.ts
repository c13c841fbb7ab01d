// The handler that shows the certificates of a zone.

import type { Holding } from '../../certificates/holdings.ts'
import { type ApiResponse, success } from '../envelope.ts'
import { isoTime } from '../records/kept.ts'
import type { Api, ZoneCall } from '../row.ts'

export async function listCertificates({ zone }: ZoneCall, { zones }: Api): Promise<ApiResponse> {
  return success(zones.certificates(zone.name).map(viewCertificate))
}

function viewCertificate({ host, source, state, notAfter, issuedAt, nextAt, failures, lastError }: Holding) {
  const at = (time: number | null) => (time === null ? null : isoTime(time))
  return {
    host,
    source,
    status: state,
    expires_on: at(notAfter),
    issued_on: at(issuedAt),
    next_attempt_at: at(nextAt),
    consecutive_failures: failures,
    last_error: lastError && { at: isoTime(lastError.at), message: lastError.message },
  }
}
