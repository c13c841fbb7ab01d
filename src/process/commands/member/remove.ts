// `gatehouse member remove`: asks for confirmation, since apps that act for the person in the account end
// with it.

import { visible } from '../../../base/text/visible.ts'
import { confirmed } from '../api/confirm.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { print, tell } from '../../terminal/output.ts'
import { withMember } from './shown-member.ts'

const deed = {
  consequence: 'removing a member ends what apps may do for them in the account',
  question:
    'This ends what apps may do for this person in the account. Type the address or id again to remove: ',
  refrained: 'Nobody was removed.',
} as const

/** Takes `--yes`, or the name retyped by a person; returns 1 if that person reconsiders. */
export function remove(input: Input): Promise<number> {
  const work = async (...[api, path, named]: Parameters<Parameters<typeof withMember>[1]>) => {
    const { result } = await api.ask('DELETE', path)
    tell(`Removed the member ${visible(named)}.`)
    if (input.json) print(json(result))
    return 0
  }
  return confirmed(input, deed, work, withMember)
}
