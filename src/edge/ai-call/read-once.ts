// Reads a request field for the gateway.

import type { Reading } from '../../base/text/quantity.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { type Once, repeated } from './request-fields.ts'

/** Null for a field that was not sent. Refuses one that was sent twice, or cannot be read. */
export function readOnce<T extends string | number | boolean>(
  name: string,
  value: Once,
  read: (text: string) => Reading<T>,
): T | null | Refusal {
  if (value === null) return null
  if (value === repeated) return refuseCall('invalid', name, 'must be given once')
  const reading = read(value)
  return 'flaw' in reading ? refuseCall('invalid', name, reading.flaw) : reading.value
}
