// `gatehouse token roll`: replaces the value of a token in the store; asks first, since the old value no
// longer works.

import { viewToken } from '../../../admin/tokens/view.ts'
import { visible } from '../../../base/text/visible.ts'
import { TokenTags } from '../../../tokens/token-tags.ts'
import { tokenResource } from '../../../store/records/audit-entry.ts'
import type { Input } from '../input.ts'
import { auditHere } from '../store/configured-store.ts'
import { json } from '../../terminal/format.ts'
import { print, refuse, tell } from '../../terminal/output.ts'
import { withToken } from './one-token.ts'

const deed = {
  consequence: 'what uses the old value of a token fails once it is rolled',
  question: 'Everything that uses the old value will fail. Type the id of the token to roll it: ',
  refrained: 'Nothing was changed.',
} as const

/**
 * Writes the new value to stdout and all else to stderr. Requires `--yes`, or the id retyped by a person;
 * returns 1 when the person declines.
 */
export function roll(input: Input): Promise<number> {
  return withToken(input, deed, async (store, { record: token, version }) => {
    const { account, id, name, person } = token
    if (person !== undefined)
      return refuse(
        `the token ${id} belongs to ${visible(person.email)}, who alone may have its value; gatehouse token revoke ends it`,
      )
    const now = Date.now()
    const { value, digest } = await new TokenTags(store).mint('svct_')
    const audit = auditHere(account, 'roll', tokenResource(token), ['value'], now)
    const rolled = { ...token, digest, modifiedOn: now }
    if (!(await store.tokens.replace(rolled, version, { audit })))
      return refuse(`the token ${id} has just been changed by somebody else: run the same command again`)
    tell(`Rolled the token ${id} (${visible(name)}). Its new value is shown only once:`)
    print(input.json ? json({ ...viewToken(rolled, now), value }) : `${value}\n`)
    return 0
  })
}
