// The metrics of the gateway as Prometheus sees them, in the order in which they are exposed. metrics.ts registers them.

import type { Family } from './metric-family.ts'
import { accessFamilies } from './metric-families-access.ts'
import { aiFamilies } from './metric-families-ai.ts'
import { limitFamilies } from './metric-families-limits.ts'
import { originFamilies } from './metric-families-origins.ts'
import { processFamilies } from './metric-families-process.ts'
import { requestFamilies } from './metric-families-requests.ts'

export const families: readonly Family[] = [
  ...requestFamilies,
  ...originFamilies,
  ...limitFamilies,
  ...accessFamilies,
  ...aiFamilies,
  ...processFamilies,
]
