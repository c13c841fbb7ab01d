import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { errorRows, isRaised } from '../../src/errors/catalogue/catalogue.ts'
import { gatehouse, quickGatehouse } from '../help/command.ts'
import { mmdb } from '../help/mmdb.ts'
import { main, writeConfig } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { root } from '../help/source.ts'

const valid = `
pools: {site: {origins: ['http://127.0.0.1:9000']}}
zones: [{hosts: [localhost], routes: [{path: /, pool: site}]}]
`

const verbs = ['create', 'list', 'show', 'update', 'rotate', 'drop-old-secret', 'verify', 'publish', 'delete']

test('help lists every command, and each has a help of its own', async () => {
  const { code, stdout } = await quickGatehouse(['--help'])
  assert.equal(code, 0)
  for (const name of ['start', 'check', 'errors', 'health', 'demo', ...verbs.map(verb => `client ${verb}`)])
    assert.match(stdout, new RegExp(`gatehouse ${name} `))
  assert.match(
    (await quickGatehouse(['errors', '--help'])).stdout,
    /^Usage: gatehouse errors \[CODE\] \[--accept TYPE\|--json\]/,
  )
})

test('the help of a noun lists its verbs, and that of a verb its options', async () => {
  const { code, stdout } = await quickGatehouse(['client', '--help'])
  assert.equal(code, 0)
  for (const verb of verbs) assert.match(stdout, new RegExp(`^  gatehouse client ${verb} `, 'm'))
  assert.doesNotMatch(stdout, /gatehouse start/)
  const own = await quickGatehouse(['client', 'create', '--help'])
  assert.match(own.stdout, /^Usage: gatehouse client create --name NAME[^\n]*\n\nCreate an OAuth client/)
  assert.match(own.stdout, /^ +--redirect-uri URI +where users are sent back to; repeatable$/m)
  assert.match(own.stdout, /^ +--refresh +issue refresh tokens too$/m)
})

test('help with a command shows the help of that command', async () => {
  const [asked, own] = await Promise.all([
    quickGatehouse(['help', 'token', 'create']),
    quickGatehouse(['token', 'create', '--help']),
  ])
  assert.deepEqual(asked, own)
  assert.equal(asked.code, 0)
  const unknown = await quickGatehouse(['help', 'statr'])
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [2, "gatehouse: unknown command 'statr'; did you mean gatehouse start?\n"],
  )
})

test('an option that takes one value cannot be given twice, and one that takes several or none can', async t => {
  const twice = await quickGatehouse(['check', '--listen', '127.0.0.1:1', '--listen=127.0.0.1:2'])
  assert.equal(twice.code, 2)
  assert.match(twice.stderr, /^gatehouse: --listen is given twice; usage: gatehouse check /)
  const file = writeConfig(t, valid)
  assert.equal((await quickGatehouse(['check', '--json', '--json', '--config', file])).code, 0)
  const several = await quickGatehouse(['token', 'create', '--permission', 'A', '--permission', 'B'])
  assert.match(several.stderr, /unknown permission 'A'/)
})

test('output that cannot be written is a failure, and one that nobody reads is none', async () => {
  const full = openSync('/dev/full', 'w')
  try {
    for (const args of [['token', 'generate'], ['schema'], ['errors', '--json'], ['--help']]) {
      const { status, stderr } = spawnSync(process.execPath, [main, ...args], {
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
      })
      assert.equal(status, 1, args.join(' '))
      assert.equal(
        stderr,
        'gatehouse: the output cannot be written: ENOSPC: no space left on device, write\n',
      )
    }
  } finally {
    closeSync(full)
  }
  const script = '{ "$0" "$@"; echo $? >&2; } | true'
  const unread = spawnSync('sh', ['-c', script, process.execPath, main, 'schema'], { encoding: 'utf8' })
  assert.equal(unread.stderr, '0\n')
})

test('a link to a configuration that is missing is an error, and not passed over for the one of the program', async t => {
  const folder = quickFolder(t, 'link')
  symlinkSync(join(folder, 'mounted-later.yaml'), join(folder, 'gatehouse.yaml'))
  const { status, stderr } = spawnSync(process.execPath, [main, 'check'], { cwd: folder, encoding: 'utf8' })
  assert.deepEqual([status, stderr], [2, 'gatehouse.yaml:1:1 the file cannot be read (ENOENT)\n'])
})

test('the help of token lists all of its verbs', async () => {
  const { code, stdout } = await quickGatehouse(['token', '--help'])
  assert.equal(code, 0)
  assert.deepEqual(
    stdout.match(/^ {2}gatehouse token \w+/gm)?.map(row => row.trim()),
    ['create', 'list', 'set', 'revoke', 'roll', 'generate'].map(verb => `gatehouse token ${verb}`),
  )
})

/** Returns the help of the program, and that of each command that it lists. */
async function helps() {
  const { stdout: whole } = await quickGatehouse(['--help'])
  const names = [...whole.matchAll(/^ {2}gatehouse ((?:[a-z-]+ ?)+)/gm)].map(([, words]) => words!.trim())
  const own: string[] = []
  for (const name of names) own.push((await quickGatehouse([...name.split(' '), '--help'])).stdout)
  assert.ok(names.length > 30)
  for (const help of own) assert.match(help, /^Usage: /)
  return { whole, byName: new Map(names.map((name, i) => [name, own[i]!])) }
}

test('no line of any help is longer than 120 columns', async () => {
  const { whole, byName } = await helps()
  for (const line of [whole, ...byName.values()].join('').split('\n')) assert.ok(line.length <= 120, line)
})

test('every command takes --json, except those that run a gateway or print JSON anyway', async () => {
  const { byName } = await helps()
  assert.deepEqual(
    [...byName].flatMap(([name, help]) => (/^ {2}--json /m.test(help) ? [] : [name])),
    ['start', 'schema', 'demo'],
  )
})

test('in help, two spaces at least separate a usage from its summary', async () => {
  const { stdout } = await quickGatehouse(['--help'])
  assert.doesNotMatch(stdout, /^ {2}gatehouse .*[^ .] [A-Z][a-z].*\.$/m)
})

test('the help of a command explains every option that its usage names', async () => {
  for (const words of [
    ['start'],
    ['check'],
    ['errors'],
    ['health'],
    ['explain'],
    ['token', 'create'],
    ['store', 'copy'],
    ['demo'],
  ]) {
    const { stdout } = await quickGatehouse([...words, '--help'])
    const [usage = ''] = stdout.split('\n')
    for (const [option] of usage.matchAll(/--[a-z-]+/g))
      assert.match(stdout, new RegExp(`^  ${option} `, 'm'))
  }
})

test('-h equals --help, before any command and after each word of it', async () => {
  for (const words of [[], ['start'], ['client'], ['client', 'create'], ['client', 'show', 'ID', '--json']]) {
    const short = await quickGatehouse([...words, '-h'])
    assert.deepEqual(short, await quickGatehouse([...words, '--help']))
    assert.deepEqual([short.code, short.stderr], [0, ''])
  }
})

test('a noun without a verb prints its verbs, with exit code 2', async () => {
  const { stdout: list } = await quickGatehouse(['client', '--help'])
  assert.deepEqual(await quickGatehouse(['client']), { code: 2, stdout: '', stderr: list })
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).slice(0, 12)
  const stdout = `${version} (${commit})\n`
  assert.deepEqual(await gatehouse(['--version']), { code: 0, stdout, stderr: '' })
})

const misuses: readonly [args: string[], sentence: RegExp][] = [
  [['strat'], /^gatehouse: unknown command 'strat'; did you mean gatehouse start\?\n$/],
  [['walk'], /^gatehouse: unknown command 'walk'; see gatehouse --help\n$/],
  [['tokens', 'list'], /^gatehouse: unknown command 'tokens'; did you mean gatehouse token list\?\n$/],
  [['token', 'lst'], /^gatehouse: unknown command 'token lst'; did you mean gatehouse token list\?\n$/],
  [
    ['token', 'delete'],
    /^gatehouse: unknown command 'token delete'; did you mean gatehouse token revoke\?\n$/,
  ],
  [['client', 'get'], /^gatehouse: unknown command 'client get'; did you mean gatehouse client show\?\n$/],
  [
    ['check', '--conifg', 'a.yaml'],
    /^gatehouse: unknown option '--conifg'; did you mean --config\? Usage: gatehouse check /,
  ],
  [['errors', 'rate_limitd'], /^gatehouse: unknown error rate_limitd; did you mean rate_limited\?\n$/],
  [
    ['errors', '522', '--json', '--accept', 'text/html'],
    /^gatehouse: --json cannot be combined with --accept\n$/,
  ],
  [['constructor'], /^gatehouse: unknown command 'constructor'/],
  [
    ['start', '--colour'],
    /^gatehouse: unknown option '--colour'; usage: gatehouse start \[--listen ADDRESS\] \[--admin ADDRESS\] \[--replace\] \[--config PATH\]\n$/,
  ],
  [['check', '--config'], /^gatehouse: option '--config <value>' argument missing; usage:/],
  [
    ['gateway', 'set', 'default', '--cache-ttl', '-1'],
    /^gatehouse: --cache-ttl needs a value: one that begins with a hyphen is written --cache-ttl=VALUE; usage:/,
  ],
  [['check', '--config', ''], /^gatehouse: --config must not be empty; usage:/],
  [['token', 'list', '--data', ''], /^gatehouse: --data must not be empty; usage:/],
  [['check', 'now'], /^gatehouse: unexpected argument 'now'; usage:/],
  [
    ['store', 'copy', '--from', 'sqlite:a'],
    /^gatehouse: missing option '--to'; usage: gatehouse store copy /,
  ],
  [['token', 'bake'], /^gatehouse: unknown command 'token bake'; see gatehouse token --help\n$/],
  [['errors', '9999'], /^gatehouse: unknown error 9999; gatehouse errors lists them all\n$/],
]

for (const [args, sentence] of misuses) {
  test(`gatehouse ${args.join(' ')} is refused in a sentence, with exit code 2`, async () => {
    const { code, stdout, stderr } = await quickGatehouse(args)
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, sentence)
  })
}

test('check accepts a valid configuration, from the option or the environment', async t => {
  const path = writeConfig(t, valid)
  const expected = { code: 0, stdout: `${path} is valid\n`, stderr: '' }
  assert.deepEqual(await quickGatehouse(['check', '--config', path]), expected)
  assert.deepEqual(await quickGatehouse(['check'], { GATEHOUSE_CONFIG: path }), expected)
  const unset = await quickGatehouse(['check'], { GATEHOUSE_CONFIG: '' })
  assert.match(unset.stdout, /config\/gatehouse\.yaml is valid$/m)
})

test('check says of which day the prices of AI calls are', async t => {
  const path = writeConfig(t, `${valid}ai: { hosts: [ai.example] }\n`)
  assert.match(
    (await quickGatehouse(['check', '--config', path])).stdout,
    /^list prices that come with Gatehouse are of 20\d\d-/m,
  )
  const own = writeConfig(t, `${valid}ai: { hosts: [ai.example], price_list: prices.json }\n`)
  const list = {
    'gpt-4o': { litellm_provider: 'openai', input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 },
  }
  const file = join(dirname(own), 'prices.json')
  writeFileSync(file, JSON.stringify(list))
  utimesSync(file, new Date('2026-03-04T05:06:07Z'), new Date('2026-03-04T05:06:07Z'))
  const { stdout } = await quickGatehouse(['check', '--config', own])
  assert.match(stdout, /^list prices in ai\.price_list \(1\) are of 2026-03-04$/m)
})

test('check and start name every mistake with its line and column, and exit with 2', async t => {
  const path = writeConfig(t, `${valid}colour: red\nlimits: {url: tall}\n`)
  for (const command of ['check', 'start']) {
    const { code, stderr } = await gatehouse([command, '--config', path])
    assert.equal(code, 2)
    assert.ok(stderr.includes(`${path}:6:1 colour`), stderr)
    assert.ok(stderr.includes(`${path}:7:15 limits.url`), stderr)
  }
})

test('check reads the files of access rules, and start refuses invalid ones', async t => {
  const path = writeConfig(t, `${valid}lists: {bad: bad.txt}\naccess: {rules: [{deny: {list: bad}}]}\n`)
  writeFileSync(join(dirname(path), 'bad.txt'), '# nobody\n192.0.2.1\n192.0.2.999\n')
  for (const command of ['check', 'start']) {
    const env = { GATEHOUSE_DATA: join(dirname(path), 'data') }
    const { code, stderr } = await gatehouse([command, '--config', path], env)
    assert.notEqual(code, 0)
    assert.match(stderr, /bad\.txt.*3/)
  }
})

test('check reports every invalid file of access rules, at the position where the configuration names it', async t => {
  const path = writeConfig(
    t,
    `${valid}lists: { bad: bad.txt, good: good.txt }\ngeo:\n  databases: [torn.mmdb, good.mmdb]\n`,
  )
  const folder = dirname(path)
  const database = mmdb({ '192.0.2.0/24': { country: { iso_code: 'AQ' } } })
  writeFileSync(join(folder, 'bad.txt'), '# nobody\n192.0.2.999\n')
  writeFileSync(join(folder, 'good.txt'), '192.0.2.1\n')
  writeFileSync(join(folder, 'torn.mmdb'), database.subarray(0, -20))
  writeFileSync(join(folder, 'good.mmdb'), database)
  const { code, stderr } = await quickGatehouse(['check', '--config', path])
  assert.equal(code, 2)
  const [list, torn, ...rest] = stderr.trimEnd().split('\n')
  assert.match(list!, /:6:15 lists\.bad: bad names an invalid file: .*bad\.txt:2/)
  assert.match(
    torn!,
    /:8:15 geo\.databases\[0\]: databases\[0\] names an invalid file: .*torn\.mmdb: must be a MaxMind DB file$/,
  )
  assert.deepEqual(rest, [])
})

test('errors shows one as Markdown, or as the requested type', async () => {
  const { code, stdout } = await quickGatehouse(['errors', '522'])
  assert.equal(code, 0)
  assert.match(stdout, /^---\nerror_code: 522\n[\s\S]*## What Happened\n/)
  const json = await quickGatehouse(['errors', '1015', '--accept', 'application/json'])
  assert.equal(JSON.parse(json.stdout).error_name, 'rate_limited')
  assert.match((await quickGatehouse(['errors', '522', '--accept', 'text/html'])).stdout, /^<!doctype html>/i)
})

test('errors says of each what happens here, and which ones are never raised', async () => {
  const { stdout } = await quickGatehouse(['errors'])
  for (const [name, { code, title, detail }] of Object.entries(errorRows)) {
    const what = isRaised(name)
      ? `${/^.*?\.(?= |$)/.exec(detail)![0]}`
      : '(this version never raises this error; only a preview shows it)'
    assert.match(stdout, new RegExp(`^${code} .*${RegExp.escape(`${title}\n      ${what}`)}$`, 'm'))
  }
  assert.match(
    (await quickGatehouse(['errors', '1034'])).stderr,
    /^gatehouse: this version never raises this error;/,
  )
  assert.equal((await quickGatehouse(['errors', '522'])).stderr, '')
})

test('errors shows those that HTTP itself defines too', async () => {
  for (const [code, name] of [
    ['404', 'not_found'],
    ['413', 'content_too_large'],
  ] as const) {
    const { stdout } = await quickGatehouse(['errors', code, '--accept', 'application/json'])
    assert.equal(JSON.parse(stdout).error_name, name)
  }
})

test('errors lists the 80 of the interface and the 17 of HTTP with code, status, retry, name and title', async () => {
  const lines = (await quickGatehouse(['errors'])).stdout.trimEnd().split('\n')
  const border = lines.findIndex(line => line.startsWith('Errors that HTTP itself defines'))
  const countOf = (group: readonly string[]) => group.filter(line => /^\d/.test(line)).length
  assert.deepEqual([countOf(lines.slice(0, border)), countOf(lines.slice(border))], [80, 17])
  assert.match(
    lines.find(line => line.startsWith('522 '))!,
    /^522 +522 +120 s +connection_timeout +Connection timed out$/,
  )
  assert.match(lines.find(line => line.startsWith('526 '))!, /^526 +526 +- +/)
  assert.match(lines.find(line => line.startsWith('413 '))!, /^413 +413 +- +content_too_large +/)
})

test('a reader that is gone does not make a command fail', () => {
  const line = `{ sleep 1; "${process.execPath}" src/main.ts errors; } | true`
  assert.equal(spawnSync('bash', ['-c', line], { cwd: root, encoding: 'utf8' }).stderr, '')
})

test('health reports that no gateway responds', async t => {
  const path = writeConfig(t, `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:1\n${valid}`)
  const { code, stderr } = await quickGatehouse(['health', '--config', path])
  assert.deepEqual([code, stderr], [1, 'gatehouse: http://127.0.0.1:1/healthz does not respond\n'])
})

test('with --json, check prints what it found to stdout alone', async t => {
  const path = writeConfig(t, `${valid}colour: red\n`)
  const { code, stdout, stderr } = await quickGatehouse(['check', '--config', path, '--json'])
  assert.deepEqual([code, stderr], [2, ''])
  const { mistakes, ...rest } = JSON.parse(stdout)
  assert.deepEqual(rest, { file: path, valid: false, warnings: [], list_prices_date: null })
  assert.deepEqual(mistakes, [{ line: 6, column: 1, path: 'colour', message: mistakes[0].message }])
  const good = await quickGatehouse(['check', '--config', writeConfig(t, valid), '--json'])
  assert.deepEqual([good.code, JSON.parse(good.stdout).valid], [0, true])
})

test('with --json, errors prints the rows of the list, all or one', async () => {
  const all: { error_name: string; retry_after: number | null }[] = JSON.parse(
    (await quickGatehouse(['errors', '--json'])).stdout,
  )
  assert.deepEqual(all.map(({ error_name: name }) => name).toSorted(), Object.keys(errorRows).toSorted())
  const one = await quickGatehouse(['errors', '1034', '--json'])
  assert.equal(one.stderr, '')
  const { error_code, raised, retryable, retry_after } = JSON.parse(one.stdout)
  assert.deepEqual([error_code, raised, retryable, retry_after], [1034, false, false, null])
  assert.ok(all.some(row => row.retry_after === 120))
})

test('with --json, health says what is wrong, and version what this is', async t => {
  const path = writeConfig(t, `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:1\n${valid}`)
  const { code, stdout, stderr } = await quickGatehouse(['health', '--config', path, '--json'])
  assert.deepEqual([code, stderr], [1, ''])
  const problem = 'http://127.0.0.1:1/healthz does not respond'
  assert.deepEqual(JSON.parse(stdout), {
    healthy: false,
    gateways: [{ url: 'http://127.0.0.1:1', pid: null, problem }],
  })
  const known = await quickGatehouse(['version', '--json'])
  const { version, commit, node } = JSON.parse(known.stdout)
  assert.deepEqual([typeof version, node], ['string', process.versions.node])
  assert.equal((await quickGatehouse(['version'])).stdout, `${version} (${commit.slice(0, 12)})\n`)
})
