import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page as Tab } from 'playwright-core'
import { html } from '../../../src/base/text/html.ts'
import { appMark, markColours } from '../../../src/pages/parts/app-mark.ts'
import { type Page, writePage } from '../../../src/pages/parts/layout.ts'
import { violationsOf } from '../../help/axe.ts'
import { launchBrowser, openPage } from '../../help/browser.ts'
import { contrastsIn } from '../../help/contrast.ts'
import { crossingsOf } from '../../help/overflow.ts'
import { isThorough, thorough } from '../../help/thorough.ts'
import { allPages, plainWords, type Words } from './all-pages.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="3" fill="#1c7152"/></svg>'

/** Opens a page; `referrers` are those that the host of its logo saw. */
async function open(t: TestContext, page: Page, options: BrowserContextOptions = {}) {
  const { headers, body } = writePage(page)
  const referrers: (string | undefined)[] = []
  const opened = await openPage(t, browser, { headers: headers.flat(), body }, options, tab =>
    tab.route(/^https:/, route => {
      referrers.push(route.request().headers().referer)
      return route.fulfill({ contentType: 'image/svg+xml', body: picture })
    }),
  )
  return { ...opened, referrers }
}

/** Loads another page in the place of what is there. */
async function show(tab: Tab, page: Page): Promise<void> {
  const { headers, body } = writePage(page)
  const address = tab.url()
  await tab.route(address, route => route.fulfill({ headers: Object.fromEntries(headers), body }))
  await tab.goto(address)
}

/** Each width and each colour scheme once: neither depends on the other. */
const looks: readonly BrowserContextOptions[] = [
  { viewport: { width: 320, height: 640 }, colorScheme: 'light' },
  { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
]

test('no page excludes anybody, is cut, or causes a complaint, narrow and wide, light and dark', async t => {
  const pages = Object.entries(allPages(plainWords))
  const { page: tab, complaints } = await open(t, pages[0]![1], looks[0]!)
  for (const [i, [name, page]] of pages.entries()) {
    await show(tab, page)
    for (const look of looks) {
      const { viewport, colorScheme } = look
      const what = `${name}, ${viewport!.width} px, ${colorScheme}`
      await tab.setViewportSize(viewport!)
      assert.deepEqual(await crossingsOf(tab), [], what)
      // Only colours, which are those of a few names, and widths differ from one look to the next.
      if (look !== looks[Number(i % 4 === 3)] && !isThorough) continue
      await tab.emulateMedia({ colorScheme: colorScheme! })
      assert.deepEqual(await violationsOf(tab), [], what)
    }
    assert.deepEqual(complaints, [], name)
  }
})

test('the longest words fit on the narrowest screen', async t => {
  const long = 'MWÄgj'.repeat(20)
  const host = `${'m'.repeat(60)}.`.repeat(4)
  const words: Words = {
    ...(Object.fromEntries(Object.keys(plainWords).map(key => [key, long])) as unknown as Words),
    email: `${'m'.repeat(64)}@${host}example`,
    host: `${host}example`,
    logo: plainWords.logo,
    uri: plainWords.uri,
    redirect: `https://${host}example/`,
  }
  const pages = Object.entries(allPages(words))
  const { page: tab } = await open(t, pages[0]![1], looks[0]!)
  for (const [name, page] of pages) {
    await show(tab, page)
    for (const width of thorough([320, 390], [320])) {
      await tab.setViewportSize({ width, height: 640 })
      assert.deepEqual(await crossingsOf(tab), [], `${name}, ${width} px`)
    }
  }
})

test('axe finds what is wrong with a page', async t => {
  const page = allPages(plainWords)['sign in']!
  const { page: tab } = await open(t, page)
  await tab.evaluate('document.querySelector("label").remove()')
  assert.match((await violationsOf(tab)).join(), /^label: /)
})

const payloads: readonly string[] = [
  '"><img src=x onerror=alert(1)>',
  `'><script>alert(1)</script>`,
  '</title></style></main><svg onload=alert(1)>',
  'javascript:alert(1)//` onfocus=alert(1) autofocus x=`',
  '&lt;b&gt;&#60;i&#62;<b>\u202e\u2028',
]

test('no word of others becomes markup, wherever a page shows it', async t => {
  // To another host than the one that is verified, as the hostile ones lead too.
  const plain = Object.values(allPages({ ...plainWords, redirect: elsewhere }))
  for (const payload of payloads) {
    const hostile = allPages(hostileWords(payload))
    const { page: tab, complaints } = await open(t, hostile.account!)
    const names = Object.keys(hostile)
    const expected = await skeletonsOf(tab, plain)
    for (const [i, skeleton] of (await skeletonsOf(tab, Object.values(hostile))).entries())
      assert.deepEqual(skeleton, expected[i], `${names[i]}: ${payload}`)
    assert.deepEqual(complaints, [])
    assert.match((await tab.locator('main').textContent())!, /onerror|alert|<b>/)
    await tab.context().close()
  }
})

const elsewhere = 'https://tea.example.org/callback'

/** The words that people and apps can choose; addresses are checked elsewhere to be addresses, and stay some. */
function hostileWords(payload: string): Words {
  const uri = `https://tea.example/${encodeURI(payload).replaceAll("'", '%27')}?"'><script>`
  return {
    ...(Object.fromEntries(Object.keys(plainWords).map(key => [key, payload])) as unknown as Words),
    // Two accounts of the same name are shown with more than that.
    otherAccount: `${payload} `,
    logo: uri,
    uri,
    redirect: elsewhere,
    userAgent: `${payload} Linux Firefox/1`,
  }
}

/** Lists the elements of each page, each with the names of its attributes and where it leads. */
function skeletonsOf(tab: Tab, pages: readonly Page[]): Promise<readonly (readonly string[])[]> {
  const bodies = JSON.stringify(pages.map(page => writePage(page).body))
  return tab.evaluate(`${bodies}.map(body => [...new DOMParser().parseFromString(body, 'text/html').querySelectorAll('*')].map(element =>
    [element.localName, ...element.getAttributeNames(), /^[a-z]+:/.exec(element.getAttribute('href') ?? '')?.[0]].join(' ')))`)
}

test('the logo of an app is loaded by the browser, without a word of where from', async t => {
  const { page: tab, referrers, complaints } = await open(t, allPages(plainWords).consent!)
  assert.equal(await tab.evaluate('document.images[0].naturalWidth > 0'), true)
  assert.deepEqual(referrers, [undefined])
  assert.deepEqual(complaints, [])
})

test('the initials of an app are in the place of a logo that it lacks, or that does not load', async t => {
  const { page: tab, referrers, complaints } = await open(t, allPages(plainWords)['consent, not verified']!)
  // Letters and corners of two elements may differ by parts of pixels: the ground behind them may not.
  const look = async (colour = '') => {
    await tab.evaluate(`document.querySelector('.app-mark').style.color = '${colour}'`)
    const { x, y } = (await tab.locator('.app-mark').boundingBox())!
    return tab.screenshot({ clip: { x: x + 8, y: y + 8, width: 40, height: 40 } })
  }
  assert.equal(await tab.locator('.app-mark').textContent(), 'TL')
  const ground = await look('transparent')
  assert.deepEqual([referrers, complaints], [[], []])
  await show(tab, allPages(plainWords).consent!)
  assert.notDeepEqual(await look('transparent'), ground)
  await tab.route(/^https:/, route => route.abort())
  await show(tab, allPages({ ...plainWords, logo: 'https://tea.example/gone.svg' }).consent!)
  await tab.waitForFunction('document.images[0].complete')
  assert.equal(await tab.evaluate('document.images[0].alt'), 'TL')
  assert.notDeepEqual(await look(), ground)
  assert.deepEqual(await look('transparent'), ground)
})

test('initials can be read in every colour, light and dark', async t => {
  const content = html`${Array.from({ length: 60 }, (_, i) => appMark(`App ${i}`, null, 'little'))}`
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page: tab } = await open(t, { title: 'Signs', content }, { colorScheme })
    const cut = await tab.evaluate(`[...document.querySelectorAll('.app-mark')].filter(mark =>
      mark.scrollWidth > mark.clientWidth || mark.firstChild.getClientRects().length > 1).length`)
    assert.equal(cut, 0)
    const contrasts = await contrastsIn(tab, '.app-mark')
    assert.equal(contrasts.length, 60)
    assert.equal(new Set(contrasts.map(({ ground }) => ground.join())).size, markColours)
    assert.deepEqual(
      contrasts.filter(({ ratio }) => ratio < 4.5),
      [],
    )
  }
})

test('to allow and to deny are as easy as each other', async t => {
  for (const look of looks) {
    const { page: tab } = await open(t, allPages(plainWords).consent!, look)
    const [allow, deny] = await Promise.all(
      ['Allow', 'Deny'].map(async name => {
        const button = tab.getByRole('button', { name, exact: true })
        const { width, height } = (await button.boundingBox())!
        const style = await tab.evaluate<readonly string[]>(
          `['color', 'backgroundColor', 'borderColor', 'fontSize', 'fontWeight'].map(name =>
            getComputedStyle(document.querySelector('[value=${name.toLowerCase()}]'))[name])`,
        )
        assert.match(style.join(), /rgb.*px/)
        return { width, height, style }
      }),
    )
    assert.deepEqual(allow, deny)
    await tab.context().close()
  }
})

test('every page can be used by the keyboard alone, in the order in which it is read', async t => {
  const { page: tab } = await open(t, allPages(plainWords).consent!)
  const reached: string[] = []
  for (let i = 0; i < 12; i++) {
    await tab.keyboard.press('Tab')
    reached.push(await tab.evaluate('document.activeElement.name || document.activeElement.textContent'))
  }
  assert.deepEqual(reached.slice(0, 8), [
    'Not you?',
    'Privacy policy',
    'Terms',
    'account',
    'optional.ai_gateway.read',
    'decision',
    'decision',
    'your profile',
  ])
})

test('a faulty field is said to be so, and has the focus', async t => {
  const { page: tab } = await open(t, allPages(plainWords)['sign up']!)
  assert.match(await tab.title(), /^Error: /)
  const password = tab.getByLabel('Password')
  assert.equal(await password.getAttribute('aria-invalid'), 'true')
  assert.match(
    await tab.evaluate('password.ariaDescribedByElements.map(element => element.textContent).join(" ")'),
    /^At least 12 characters.* common passwords\.$/,
  )
  assert.equal(await tab.evaluate('password === document.activeElement'), true)
  assert.equal(await tab.getByLabel('Email').inputValue(), plainWords.email)
  assert.equal(await password.inputValue(), '')
})
