// The pages of AI providers.

import type { Route } from '../page/page-request.ts'
import { showProviders } from './list.ts'
import { showProvider, testProvider } from './provider-page.ts'

const providers = '/dashboard/{account}/providers'
const provider = `${providers}/{provider}`

export const providerRoutes: readonly Route[] = [
  { path: providers, permission: 'AI Gateway Read', show: showProviders },
  { path: provider, permission: 'AI Gateway Read', show: showProvider },
  { path: `${provider}/test`, permission: 'AI Gateway Run', effect: 'tries', take: testProvider },
]
