// The Prometheus metrics of the gateway, in the order in which they are exposed.

import type { Families, Family } from './family.ts'
import { accessFamilies } from './access.ts'
import { aiFamilies } from './ai.ts'
import { answerFamilies } from './answers.ts'
import { budgetFamilies } from './budgets.ts'
import { certificateFamilies } from './certificates.ts'
import { compressionFamilies } from './compression.ts'
import { limitFamilies } from './limits.ts'
import { mcpFamilies } from './mcp.ts'
import { originFamilies } from './origins.ts'
import { peopleFamilies } from './people.ts'
import { processFamilies } from './process.ts'
import { requestFamilies } from './requests.ts'

const all: Families = {
  ...requestFamilies,
  ...originFamilies,
  ...compressionFamilies,
  ...limitFamilies,
  ...accessFamilies,
  ...mcpFamilies,
  ...aiFamilies,
  ...answerFamilies,
  ...budgetFamilies,
  ...peopleFamilies,
  ...certificateFamilies,
  ...processFamilies,
}

export const families: readonly Family[] = Object.entries(all).map(([name, family]) => ({
  type: name.endsWith('_total') ? 'counter' : 'gauge',
  ...family,
  name,
}))
