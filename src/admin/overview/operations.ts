// The operations of the overview, for the document of the API.

import { one, tagged } from '../schema/operation.ts'

const account = '/client/v4/accounts/{account_id}'

export const overviewOperations = tagged('Gateway', {
  [`GET ${account}/overview`]: {
    id: 'getOverview',
    summary: 'Show what the zones of an account have served lately, and how everything is',
    description: 'Only what the token may see.',
    response: one('Overview'),
  },
  [`GET ${account}/attention`]: {
    id: 'listAttention',
    summary: 'List what needs attention in an account',
    description:
      'Only what the token may see. It is searched again at the first request after a change, or after 30 seconds: a response that would take longer than a moment shows what was found before.',
    response: one('Attention'),
  },
})
