import type { IDataObject } from 'n8n-workflow';

import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { newIdOf, undoing } from '../support/undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, undo, add, record } = undoing(sandbox);

describe('a custom field that was cleared before its record was deleted, which the deleted record does not have', () => {
	const tierOf = async (items: IDataObject[], id: string) =>
		((await record('contacts', newIdOf({ items }, id)))!.custom_fields as IDataObject).contract_tier;

	test('is restored', async () => {
		const { id } = await add('contacts', { last_name: 'Cleared', custom_fields: { contract_tier: 'gold' } });
		await as('c1', op.update('contact', id, { custom_fields: { contract_tier: null } }));
		await as('c1', op.deleteRecord('contact', id));
		const { items } = await undo('c1');
		expect(items).toMatchObject([{ result: 'undone', action: 'create' }]);
		expect(await tierOf(items, id)).toBe('gold');
	});

	test('stays cleared where someone else has cleared it', async () => {
		const { id } = await add('contacts', { last_name: 'Cleared', custom_fields: { contract_tier: 'gold' } });
		await as('c2', op.update('contact', id, { custom_fields: { contract_tier: 'silver' } }));
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { custom_fields: { contract_tier: null } });
		await as('c2', op.deleteRecord('contact', id));
		const { items } = await undo('c2');
		expect(items).toMatchObject([{ action: 'create' }]);
		expect(await tierOf(items, id)).toBeUndefined();
	});
});
