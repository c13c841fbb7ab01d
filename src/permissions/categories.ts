// What the categories of permissions and scopes are about, as people read it.

const titles: Readonly<Record<string, string>> = {
  identity: 'Who you are',
  own: 'APIs of this site',
  account_and_billing: 'Account and people',
  ai_and_machine_learning: 'AI',
  analytics: 'Analytics',
  developer_platform: 'Developer platform',
  rules_and_configuration: 'Zones and rules',
}

export function categoryTitle(category: string): string {
  return titles[category] ?? category
}
