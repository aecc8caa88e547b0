import type { IDataObject } from 'n8n-workflow';

import { failure, run } from '../support/node-runs.ts';
import { automatic, create, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { teamsIn } from '../support/sync-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const other = useSandbox({ contacts: 0 });
const teams = teamsIn(sandbox);

const credential = { baseUrl: '={{ $json.base }}', apiKey: '={{ $json.key }}', descriptionUrl: '' };
const itemOf = ({ credential: { baseUrl, apiKey } }: typeof sandbox, more: IDataObject = {}) => ({ base: baseUrl, key: apiKey, ...more });
const writes = async () => [...(await sandbox.requests()), ...(await other.requests())].filter(({ method }) => method !== 'GET');
const contact = { fieldsMode: 'json', fieldsJson: '={{ { last_name: $json.name } }}' };

describe('a credential that selects another account for another item is refused, and nothing is sent:', () => {
	const setups = {
		create: () => ({ credential, parameters: create('contact', contact) }),
		list: () => ({ credential, parameters: getMany('contact') }),
		fallback: () => ({
			credential: {
				...credential,
				baseUrl: `={{ $json.base || "${sandbox.credential.baseUrl}" }}`,
				apiKey: `={{ $json.key || "${sandbox.credential.apiKey}" }}`,
			},
			parameters: create('contact', contact),
		}),
	};
	test.each(Object.keys(setups) as Array<keyof typeof setups>)('%s', async (name) => {
		const first = name === 'fallback' ? {} : itemOf(sandbox);
		const items = [{ ...first, name: 'A' }, itemOf(other, { name: 'B' }), itemOf(sandbox, { name: 'C' })];
		const { message, description } = await failure({ ...setups[name](), items });
		expect(message).toBe('The credential selects a different account for item 1 than for item 0, so nothing was sent');
		expect(description).toContain('Loop Over Items');
		expect(await writes()).toEqual([]);
	});

	test('of many items, the last', async () => {
		const items = Array.from({ length: 60 }, (_, i) => itemOf(i === 59 ? other : sandbox, { name: `N${i}` }));
		expect((await failure({ credential, parameters: create('contact', contact), items })).message).toContain('for item 59');
		expect(await writes()).toEqual([]);
	});

	test('sync', async () => {
		const items = [itemOf(sandbox, { external_id: 'a', last_name: 'A' }), itemOf(other, { external_id: 'b', last_name: 'B' })];
		await expect(teams.run(items, automatic, { credential })).rejects.toThrow('a different account for item 1');
		expect(await writes()).toEqual([]);
	});
});

test('a credential that selects one account for all items is used', async () => {
	const items = ['A', 'B'].map((name) => itemOf(other, { name }));
	const { items: writtenItems } = await run({ credential, parameters: create('contact', contact), items });
	expect(writtenItems.map(({ json }) => json.last_name)).toEqual(['A', 'B']);
	expect((await other.call('GET', '/v1/contacts')).body.data).toHaveLength(2);
});
