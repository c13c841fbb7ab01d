// The commands of "Try it with curl", typed into one shell as they are shown; a browser does only what the text has the colleague do.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { completion } from '../help/ai.ts'
import { launchBrowser } from '../help/browser.ts'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { startGateway } from '../help/gateway.ts'
import { say, startProvider } from '../help/provider.ts'
import { root } from '../help/source.ts'
import { until } from '../help/until.ts'

const [register, exchange, use, ...more] = commandsIn('docs/oauth.md', 'Try it with curl')
const [chat, revoke, ...rest] = use!.split(/\n(?=curl )/)
const [members] = commandsIn('docs/people.md', 'Invite and remove members')
const invite = members!.split('\n').find(line => line.includes('member invite'))!
const curl = process.env.CURL ?? 'curl'

function commandsIn(page: string, heading: string): readonly string[] {
  const blocks = blocksOf(section(readPage(page), heading))
  return blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
}

/** Starts a shell, and returns what types commands into it and returns what they print. */
function startShell(t: TestContext, env: NodeJS.ProcessEnv): (commands: string) => Promise<string> {
  const shell = spawn('sh', ['-u'], { cwd: root, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(shell, 'close')
  t.after(() => {
    shell.stdin.end()
    return ended
  })
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]()
  const end = 'end of output'
  return async commands => {
    shell.stdin.write(`{ ${commands}\n} </dev/null\necho; echo '${end}'\n`)
    let printed = ''
    for (;;) {
      const { value, done } = await lines.next()
      if (done) assert.fail(`the shell ended at: ${commands}`)
      if (value === end) return printed
      printed += `${value}\n`
    }
  }
}

test('a colleague is invited, an app registered and allowed, it chats, is revoked and gets 401', async t => {
  assert.deepEqual([...more, ...rest], [])
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const shipped = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
  const pointed = shipped.replace('    openai:\n', `    openai:\n      url: ${provider.url}\n`)
  const env = { ORIGIN: 'http://127.0.0.1:1' }
  const browser = await launchBrowser()
  t.after(() => browser.close())
  const gateway = await startGateway(t, pointed, { env })
  const { account, token } = await gateway.firstStart
  const type = startShell(t, { ...process.env, GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: token })
  const run = (commands: string) =>
    type(
      commands
        .replaceAll('http://127.0.0.1:8080', gateway.edge)
        .replaceAll('http://127.0.0.1:8081', gateway.admin)
        .replace(/npx gatehouse \w+ \w+/, `$& --url ${gateway.admin}`)
        .replaceAll(/^curl /gm, `${curl} -sS `),
    )

  const page = await browser.newPage()
  assert.match(invite, /--role "AI Gateway Admin"$/)
  await page.goto((await run(invite)).trim())
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Accept the invitation' }).click()
  await page.waitForURL('**/dashboard/**')

  await page.goto((await run(register!)).trim())
  const called = page.waitForRequest(request => request.url().startsWith('http://127.0.0.1:9999/callback?'))
  await page.getByRole('button', { name: 'Allow' }).click()
  const code = new URL((await called).url()).searchParams.get('code')

  await run(`CODE=${code}`)
  await run(`ACCESS_TOKEN=${JSON.parse(await run(exchange!)).access_token}`)
  assert.match(await run(chat!), /^HTTP\/1\.1 200 .*"chat\.completion"/s)
  assert.equal((await run(revoke!)).trim(), '')
  await until(async () => (await run(chat!)).startsWith('HTTP/1.1 401 '))
})
