// The rows of the admin listener that are about AI providers: method, path, permission, handler.

import { account, type ApiRow } from '../api/api-types.ts'
import { listProviders, testProvider } from './providers.ts'

const providers = `${account}/ai-gateway/providers`

export const providerRows: readonly ApiRow[] = [
  { method: 'GET', path: providers, permission: 'AI Gateway Read', handle: listProviders },
  {
    method: 'POST',
    path: `${providers}/{provider_id}/test`,
    permission: 'AI Gateway Run',
    lastingAccess: 'nothing',
    handle: testProvider,
  },
]
