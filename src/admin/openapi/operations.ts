// What the document needs beyond the table of routes: one entry for each row, by method and path.

import type { Operation } from '../schema/operation.ts'
import { auditOperations } from '../audit/operations.ts'
import { overviewOperations } from '../overview/operations.ts'
import { clientOperations } from '../oauth-clients/operations.ts'
import { customProviderOperations } from '../custom-providers/operations.ts'
import { providerConfigOperations } from '../provider-configs/operations.ts'
import { dynamicRouteOperations } from '../dynamic-routes/operations.ts'
import { budgetAlertOperations } from '../budget-alerts/operations.ts'
import { policyOperations } from '../policies/operations.ts'
import { gatewayOperations } from '../gateways/operations.ts'
import { logOperations } from '../ai-logs/operations.ts'
import { peopleOperations } from '../people/operations.ts'
import { providerOperations } from '../providers/operations.ts'
import { grantOperations } from '../oauth-grants/operations.ts'
import { plainOperations } from './plain-operations.ts'
import { tokenOperations } from '../tokens/operations.ts'
import { zoneOperations } from '../zones/operations.ts'

export const operations: Readonly<Record<string, Operation>> = {
  ...clientOperations,
  ...grantOperations,
  ...peopleOperations,
  ...tokenOperations,
  ...gatewayOperations,
  ...providerConfigOperations,
  ...customProviderOperations,
  ...dynamicRouteOperations,
  ...policyOperations,
  ...budgetAlertOperations,
  ...logOperations,
  ...providerOperations,
  ...zoneOperations,
  ...auditOperations,
  ...overviewOperations,
  ...plainOperations,
}
