// The rows of the admin listener that are about AI providers: method, path, permission, handler.

import { account, type ApiRow, row } from '../api/api-types.ts'
import { listProviders, testProvider } from './providers.ts'

const providers = `${account}/ai-gateway/providers`

export const providerRows: readonly ApiRow[] = [
  row('GET', providers, 'AI Gateway Read', listProviders),
  row('POST', `${providers}/{provider_id}/test`, 'AI Gateway Run', testProvider, {
    lastingAccess: 'nothing',
  }),
]
