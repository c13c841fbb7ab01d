import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { html } from '../../../src/base/text/html.ts'
import { bodyBlock, layOut } from '../../../src/dashboard/parts/body.ts'
import { ceilingOf, chart } from '../../../src/dashboard/parts/chart.ts'
import { Draft } from '../../../src/dashboard/parts/draft.ts'
import { expressionField } from '../../../src/dashboard/parts/expression-field.ts'
import {
  areaField,
  checkbox,
  checkboxes,
  fileField,
  listField,
  radios,
  selectField,
  textField,
} from '../../../src/dashboard/parts/fields.ts'
import { confirmation, dangerZone, draftForm, isTyped, notTyped } from '../../../src/dashboard/parts/forms.ts'
import { badge, emptyState, pager, table } from '../../../src/dashboard/parts/lists.ts'
import { nearTable } from '../../../src/dashboard/parts/near-keys.ts'
import { compact, dollars, grouped } from '../../../src/dashboard/parts/numbers.ts'
import { codeBlock, copyable, shownOnce, time } from '../../../src/dashboard/parts/values.ts'
import { searchForm } from '../../../src/dashboard/parts/search.ts'

const failure = (status: number, faults: Readonly<Record<string, string>>) =>
  ({ ok: false, status, faults, retryAfter: null }) as const

test('faults of the API find their fields, under the names that the form has for members', () => {
  const draft = new Draft({ name: 'x', idempotency_key: 'k' }).refused(
    failure(400, {
      '/name': 'A.',
      '/policies/0/groups': 'B.',
      '/in/ip/1': 'C.',
      '': 'D.',
      '/policies': 'E.',
    }),
    { '/policies': 'groups', '/in/ip/': 'addresses' },
  )
  assert.deepEqual(draft.faults, { '/name': 'A.', '/groups': 'B. E.', '/addresses/1': 'C.', '': 'D.' })
  assert.equal(draft.fault('addresses.1'), 'C.')
  assert.deepEqual([draft.status, draft.key], [422, 'k'])
})

test('what the body has as a list is no list to who fills in fields', () => {
  const faults = { '/uris': 'Must be a list of 1 to 20 items.', '/uris/0': 'Must be a list of dots.' }
  const draft = new Draft().refused({ ok: false, status: 400, faults, retryAfter: null })
  assert.equal(draft.fault('uris'), 'Enter at least one, and 20 at most.')
  assert.equal(draft.fault('uris.0'), 'Must be a list of dots.')
})

test('a key that was used for other values is replaced, and that is said', () => {
  const draft = new Draft({ name: 'x', idempotency_key: 'k' }).refused(failure(422, { '': 'Used.' }))
  assert.match(draft.faults['']!, /was sent before/)
  assert.match(draft.key, /^[0-9a-f]{32}$/)
  assert.equal(draft.value('name'), 'x')
})

test('after a concurrent change the form shows the current values next to the input', () => {
  const draft = new Draft({ name: 'mine', uri: 'same', etag: '"1"' }).overtaken(
    { name: 'theirs', uri: 'same', logo: '' },
    '"2"',
  )
  assert.deepEqual(draft.values, { name: 'mine', uri: 'same', etag: '"2"' })
  assert.deepEqual(Object.keys(draft.faults), ['', '/name'])
  assert.equal(draft.fault('name'), 'It is now: theirs.')
  assert.equal(draft.status, 412)
})

test('the fields of a list are taken in their order, without gaps', () => {
  const values = { 'uri.10': 'c', 'uri.2': ' b ', 'uri.0': 'a', 'uri.1': '', 'uri.x': 'no', uri: 'no' }
  const draft = new Draft(values).compact('uri')
  assert.deepEqual(draft.list('uri'), ['a', 'b', 'c'])
  assert.deepEqual(draft.values, { 'uri.x': 'no', uri: 'no', 'uri.0': 'a', 'uri.1': 'b', 'uri.2': 'c' })
  assert.deepEqual([draft.lengthOf('uri'), draft.with({ more: 'uri' }).lengthOf('uri')], [3, 4])
  assert.equal(new Draft().lengthOf('uri'), 1)
})

test('the token of a form is no value of it', () => {
  const draft = Draft.of(
    new Map([
      ['form_token', 't'],
      ['name', 'x'],
      ['etag', '"1"'],
    ]),
  )
  assert.deepEqual(draft.values, { name: 'x', etag: '"1"' })
  assert.equal(draft.etag, '"1"')
})

const kept = new Draft(
  { a: '<b>', pick: 'two', on: 'on', 'many.x': 'on' },
  { '/a': 'Wrong.', '/many': 'None.' },
  422,
)
const options = [
  { value: 'one', label: 'One', hint: 'First' },
  { value: 'two', label: 'Two', isDisabled: true },
]

test('each field has its label, hint, fault and value', () => {
  const field = { name: 'a', label: 'A', hint: 'Say it.' }
  for (const made of [textField(kept, field), areaField(kept, { ...field, isCode: true })]) {
    assert.match(made.markup, /<label for="a">A<\/label>/)
    assert.match(made.markup, /aria-describedby="a-hint a-fault" aria-invalid="true"/)
    assert.match(made.markup, /<p class="fault" id="a-fault">Wrong\.<\/p>/)
    assert.match(made.markup, /&#60;b&#62;/)
    assert.match(made.markup, / required/)
  }
  assert.match(
    selectField(kept, { name: 'pick', label: 'Pick', options }).markup,
    /<option value="two" selected disabled>/,
  )
  const radio = radios(kept, { name: 'pick', label: 'Pick', options }).markup
  assert.match(radio, /id="pick\.two" name="pick" type="radio" value="two" checked disabled/)
  assert.match(radio, /<legend>Pick<\/legend>/)
  const boxes = checkboxes(kept, {
    name: 'many',
    label: 'Many',
    isOptional: true,
    options: [{ value: 'x', label: 'X' }],
  })
  assert.match(boxes.markup, /<fieldset class="field" id="many"[^>]* aria-invalid="true"/)
  assert.match(boxes.markup, /name="many\.x" type="checkbox" value="on" checked/)
  const file = fileField(kept, { name: 'a', label: 'A', accept: '.html' })
  assert.match(file.markup, /type="file" accept="\.html" required aria-describedby="a-fault"/)
  assert.match(checkbox(kept, { name: 'on', label: 'On' }).markup, / checked/)
})

test('a list names each of its fields, and its button skips what the browser checks', () => {
  const draft = new Draft({ 'uri.0': 'a', more: 'uri' }, { '/uri/0': 'Bad.' })
  const { markup } = listField(draft, { name: 'uri', label: 'URI', type: 'url', add: 'Add one' })
  assert.match(
    markup,
    /aria-label="URI 1"[^>]* value="a" aria-invalid="true" aria-describedby="uri\.0-fault"/,
  )
  assert.match(markup, /aria-label="URI 2"[^>]* autofocus>/)
  assert.match(markup, /<button class="plain small" name="more" value="uri" formnovalidate>Add one<\/button>/)
})

const frame = { action: '/x', token: 't' }

test('a form says above its fields what is wrong, with links to them, and carries what nobody sees', () => {
  const draft = new Draft(
    { etag: '"3"', idempotency_key: 'k' },
    { '/name': 'Long.', '/uri/1': 'Bad.', '': 'Full.', '/odd': 'Odd.' },
  )
  const parts = { frame, draft, labels: { uri: 'URI', name: 'Name' }, isOnce: true, send: 'Go' }
  const { markup } = draftForm(parts, html``)
  const faults = ['Full.', 'Odd.', '<a href="#uri.1">URI</a>: Bad.', '<a href="#name">Name</a>: Long.']
  assert.ok(markup.includes(faults.map(fault => `<li>${fault}</li>`).join('')), markup)
  assert.match(markup, /role="alert" tabindex="-1" autofocus/)
  assert.match(markup, /name="idempotency_key" value="k"/)
  assert.match(markup, /name="etag" value="&#34;3&#34;"|name="etag" value="&quot;3&quot;"/)
  assert.doesNotMatch(draftForm({ ...parts, draft: new Draft() }, html``).markup, /alert/)
})

test('the most dangerous actions need the name to be typed', () => {
  const parts = {
    frame,
    what: html`Gone.`,
    send: 'Delete',
    cancel: '/back',
    typed: { label: 'Type it', word: 'Shop' },
  }
  assert.match(
    confirmation({ ...parts, draft: new Draft() }).markup,
    /<p class="hint" id="typed-hint">Shop<\/p>/,
  )
  assert.equal(isTyped(new Draft({ typed: ' Shop ' }), 'Shop'), true)
  assert.equal(isTyped(new Draft({ typed: 'shop' }), 'Shop'), false)
  const again = confirmation({ ...parts, draft: notTyped(new Draft({ typed: 'x' })) }).markup
  assert.match(again, /This does not match\./)
  assert.match(again, /value="x"/)
})

test('without dangers there is no zone of them', () => {
  assert.equal(dangerZone([]), null)
  const danger = { title: 'Delete', text: 'All of it.', path: '/x', link: 'Delete…' }
  assert.match(dangerZone([danger])!.markup, /<a class="button danger small" href="\/x">/)
})

test('a table has a caption, heads, and titles for narrow screens', () => {
  const columns = [
    { title: 'Name', isName: true, cell: (item: { a: string; n: number }) => item.a },
    { title: 'Size', isNumber: true, cell: (item: { a: string; n: number }) => item.n },
  ]
  const { markup } = table('Things', columns, [{ a: '<x>', n: 1 }])
  assert.match(markup, /<caption>Things<\/caption>/)
  assert.match(
    markup,
    /<th scope="row" data-title="Name">&#60;x&#62;<\/th><td data-title="Size" class="number">1<\/td>/,
  )
})

test('a pager leads to the pages there are, with the rest of the query, without what was done', () => {
  const of = (page: number, total: number, count = 20) =>
    pager('/x', new URLSearchParams('a=b&done=c&page=9'), { page, per_page: 20, count, total_count: total })
      ?.markup ?? null
  assert.equal(of(1, 20), null)
  assert.match(of(1, 21)!, /^<nav[^>]*><p>1 to 20 of 21<\/p><a [^>]*rel="next" href="\/x\?a=b&#38;page=2"/)
  assert.match(of(2, 21, 1)!, /rel="prev" href="\/x\?a=b">Previous<\/a><p>21 to 21 of 21<\/p><\/nav>$/)
  assert.match(of(7, 21, 0)!, /href="\/x\?a=b&#38;page=2">Previous<\/a><p>None of 21<\/p>/)
})

test('values are written for people, and can be copied', () => {
  assert.equal(time(null).markup, 'never')
  assert.match(
    time('2026-02-01T10:00:00.000Z').markup,
    /^<time datetime="2026-02-01T10:00:00\.000Z">1 Feb 2026, 10:00 UTC<\/time>$/,
  )
  for (const made of [copyable('Id', '<x>'), codeBlock('Id', '<x>'), shownOnce('Id', '<x>', 'Save it.')])
    assert.match(made.markup, /data-copy>&#60;x&#62;</)
  assert.match(badge('active', 'good').markup, /class="tag good"/)
  assert.match(emptyState('None', 'Make one.', html`<a href="/">Go</a>`).markup, /<h2>None<\/h2>/)
})

test('a search keeps what was looked for, and cannot be broken out of', () => {
  const { markup } = searchForm({
    path: '/dashboard/a/things',
    label: 'Name',
    name: 'name',
    value: '"><b>',
    choices: [
      {
        name: 'state',
        label: 'State',
        value: 'on',
        options: [
          ['', 'All'],
          ['on', 'On'],
        ],
      },
    ],
  })
  assert.match(markup, /method="get" action="\/dashboard\/a\/things"/)
  assert.match(markup, /value="&#34;&#62;&#60;b&#62;"/)
  assert.match(markup, /<option value="on" selected>On</)
})

test('the character at which an expression goes wrong is marked, wherever it is', () => {
  const markedIn = (expression: string, fault: string) => {
    const draft = new Draft({ expression }).withFault('expression', fault)
    const { markup } = expressionField(draft, { name: 'expression', label: 'Expression' })
    return /<pre[^>]*aria-label="([^"]*)">(.*?)<\/pre>/s.exec(markup)?.slice(1) ?? null
  }
  assert.deepEqual(markedIn('a &&\n\t<b> ||', 'Must be a CEL expression; line 2, column 2: no <.'), [
    'Line 2',
    ' <mark>&#60;</mark>b&#62; ||\n ^',
  ])
  assert.deepEqual(markedIn('a &&', 'Must be one; line 1, column 5: it ends.'), [
    'Line 1',
    'a &#38;&#38;<mark> </mark>\n    ^',
  ])
  assert.equal(markedIn('a', 'Must be one; line 7, column 1: x.'), null)
  assert.equal(markedIn('a', 'Must be short.'), null)
})

test('JSON that is laid out is the same JSON, with its numbers as they were written', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), text => {
      fc.pre(text.length < 300)
      assert.deepEqual(JSON.parse(layOut(text)), JSON.parse(text))
    }),
  )
  assert.equal(layOut('{"a":12345678901234567890,"b":[ ]}'), '{\n  "a": 12345678901234567890,\n  "b": [ ]\n}')
})

test('a body that is long or deep costs no more than what is shown of it', () => {
  const deep = bodyBlock('Deep', `${'['.repeat(5_000)}${']'.repeat(5_000)}`).markup
  assert.ok(deep.length < 8_000, `${deep.length}`)
  const long = bodyBlock(
    'Long',
    `${'x'.repeat(5_999)}\u{1F600}${'y'.repeat(9)}`,
    html`<a href="/all">All</a>`,
  ).markup
  assert.match(long, /x<\/pre>.*it has 6010 characters\. <a href="\/all">/)
})

test('a chart has its bars on top of each other, and its figures in a table', async () => {
  const parts = {
    id: 'c',
    title: 'Requests',
    windows: ['2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00.000Z'],
    write: String,
  }
  const { markup } = await chart({
    ...parts,
    series: [
      { name: '<a>', values: [4, 0] },
      { name: 'b', values: [4, 0] },
      { name: 'none', values: [0, 0] },
    ],
    others: { name: 'Others', values: [2, 0] },
  })
  assert.match(markup, /class="s0" d="M3 160v-64h14V160z"/)
  assert.match(markup, /class="s1" d="M3 96v-64h14V96z"/)
  assert.match(markup, /class="rest" d="M3 32v-32h14V32z"/)
  assert.match(markup, /<title>2026-01-01 00:00 UTC: 10<\/title>/)
  assert.match(markup, /<td>10<\/td><td>4<\/td><td>4<\/td><td>2<\/td>/)
  assert.doesNotMatch(markup, /none<|<a>|01:00<\/time><\/th>/)
  assert.match((await chart({ ...parts, series: [] })).markup, /None in this time/)
})

test('the top of a chart is a round number, not below its highest bar', () => {
  assert.deepEqual([1, 3, 5, 7, 10, 11, 0.003].map(ceilingOf), [1, 5, 5, 10, 10, 20, 0.005])
})

test('numbers are written as people read them', () => {
  assert.deepEqual([0, 999, 1_000, 1_234_567].map(grouped), ['0', '999', '1,000', '1,234,567'])
  assert.deepEqual([0, 9_999, 0.25, 12_345, 2e6].map(compact), ['0', '9,999', '0.3', '12.3K', '2M'])
  const costs = [0, 0.0000154, 0.123456, 1, 1234.567]
  assert.deepEqual(costs.map(dollars), ['$0', '$0.0000154', '$0.123', '$1.00', '$1,234.57'])
})

test('the clients nearest to a limit are shown with their remaining allowance, and none where nothing was counted', () => {
  const key = [
    { by: 'app', value: '<b>' },
    { by: 'token', value: null },
  ]
  const { markup } = nearTable('limit', 2_000, [{ key, used: 1_500, remaining: 0, reset: 9 }])
  assert.match(markup, /app <code>&#60;b&#62;<\/code>, token of a long value/)
  assert.match(markup, /1,500 of 2,000.*none.*9 s/s)
  assert.match(nearTable('limit', 1, []).markup, /Nothing was counted lately/)
})
