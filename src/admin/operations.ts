// What the table of routes lacks to be a document: one entry for each row, by method and path. openapi.ts puts the two together.

import type { Operation } from './operation.ts'
import { clientOperations } from './operations-clients.ts'
import { gatewayOperations } from './operations-gateways.ts'
import { logOperations } from './operations-logs.ts'
import { plainOperations } from './operations-plain.ts'
import { tokenOperations } from './operations-tokens.ts'
import { zoneOperations } from './operations-zones.ts'

export const operations: Readonly<Record<string, Operation>> = {
  ...clientOperations,
  ...tokenOperations,
  ...gatewayOperations,
  ...logOperations,
  ...zoneOperations,
  ...plainOperations,
}
