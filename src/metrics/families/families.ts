// The Prometheus metrics of the gateway, in the order in which they are exposed.

import type { Family } from './family.ts'
import { accessFamilies } from './access.ts'
import { aiFamilies } from './ai.ts'
import { certificateFamilies } from './certificates.ts'
import { compressionFamilies } from './compression.ts'
import { limitFamilies } from './limits.ts'
import { originFamilies } from './origins.ts'
import { peopleFamilies } from './people.ts'
import { processFamilies } from './process.ts'
import { requestFamilies } from './requests.ts'

export const families: readonly Family[] = [
  ...requestFamilies,
  ...originFamilies,
  ...compressionFamilies,
  ...limitFamilies,
  ...accessFamilies,
  ...aiFamilies,
  ...peopleFamilies,
  ...certificateFamilies,
  ...processFamilies,
]
