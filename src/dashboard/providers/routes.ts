// The pages of AI providers.

import type { Route } from '../page/page-request.ts'
import {
  addCustomProvider,
  confirmProviderDeletion,
  confirmState,
  deleteCustomProvider,
  showNewCustomProvider,
  switchState,
} from './custom/custom-editing.ts'
import { showCustomProviders } from './custom/custom-list.ts'
import { showProviders } from './list.ts'
import { showProvider, testProvider } from './provider-page.ts'

const providers = '/dashboard/{account}/providers'
const provider = `${providers}/{provider}`

const custom = '/dashboard/{account}/custom-providers'
const editing = { permission: 'AI Gateway Edit' } as const

export const providerRoutes: readonly Route[] = [
  { path: providers, permission: 'AI Gateway Read', show: showProviders },
  { path: provider, permission: 'AI Gateway Read', show: showProvider },
  { path: `${provider}/test`, permission: 'AI Gateway Run', effect: 'tries', take: testProvider },
  { path: custom, permission: 'AI Gateway Read', show: showCustomProviders },
  {
    path: `${custom}/~new`,
    ...editing,
    show: showNewCustomProvider,
    effect: 'opens',
    take: addCustomProvider,
  },
  { path: `${custom}/{slug}/state`, ...editing, show: confirmState, effect: 'opens', take: switchState },
  {
    path: `${custom}/{slug}/delete`,
    ...editing,
    show: confirmProviderDeletion,
    effect: 'ends',
    take: deleteCustomProvider,
  },
]
