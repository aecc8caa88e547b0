import { authorityOf, NoRights, rightsOf } from '../../../sandbox/domain/access/authority.ts';
import { scopes } from '../../../sandbox/domain/access/scopes.ts';
import type { Authority } from '../../../sandbox/core/service.ts';
import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';

let sandbox: TokenSandbox;
beforeEach(() => void (sandbox = tokenSandbox()));

const ask = (authority: Partial<Authority> & Pick<Authority, 'caller'>, scope?: string) =>
	rightsOf(sandbox.store, { application: undefined, ...authority }, ...(scope === undefined ? [] : [scope]));
const user = (id: string) => ({ type: 'user', id }) as const;

test('an API key may do everything until it is revoked', () => {
	sandbox.store.apiKeys.add('key_1', 'secret');
	const caller = { type: 'api_key', id: 'key_1' } as const;
	expect(ask({ caller }, 'users:write')).toMatchObject({ scopes: undefined });
	expect(ask({ caller: { ...caller, id: 'key_2' } })).toEqual(new NoRights('The API key was revoked.'));
});

test('only users sign in: an ID in a request gives nobody else’s rights', () => {
	const over = new NoRights('The user can no longer sign in.');
	expect(ask({ caller: user('usr_nobody') })).toEqual(over);
	expect(ask({ caller: { type: 'system', id: sandbox.admin } as never })).toEqual(over);
	expect(ask({ caller: user(sandbox.admin) })).not.toBeInstanceOf(NoRights);
});

test('a user without an application has every scope of their role, and with one the scopes they granted', () => {
	const { admin, sales } = sandbox;
	expect(ask({ caller: user(admin) })).toMatchObject({ scopes: [...scopes.keys()] });
	const member = ask({ caller: user(sales) }) as { scopes: string[] };
	expect(member.scopes).toContain('contacts:write');
	expect(member.scopes).not.toContain('users:write');
	const { id } = sandbox.grant(admin, ['contacts:read']);
	const grant = { grantId: id, scopes: ['contacts:read'] };
	expect(ask({ caller: user(admin), application: 'cli_test', grant })).toMatchObject({ scopes: ['contacts:read'] });
	expect(ask({ caller: user(admin), grant: { ...grant, grantId: 'gone' } })).toMatchObject({
		reason: expect.stringContaining('access was revoked'),
	});
});

test('work needs its scope; work without a scope needs only a user who can sign in', () => {
	const caller = user(sandbox.sales);
	expect(ask({ caller }, 'contacts:write')).not.toBeInstanceOf(NoRights);
	expect(ask({ caller }, 'users:write')).toEqual(new NoRights('The user no longer has the right to do this (users:write).'));
	expect(ask({ caller })).not.toBeInstanceOf(NoRights);
});

test('a user sees their own records, and an administrator all', () => {
	const sees = (id: string) => (ask({ caller: user(id) }) as { store: object }).store;
	expect(sees(sandbox.admin)).toBe(sandbox.store);
	expect(sees(sandbox.sales)).not.toBe(sandbox.store);
});

test('work begun through an application keeps its authority, and work of the console has none', () => {
	const begun = (values: object) => authorityOf(sandbox.store, { id: 'job_1', created_by: user('usr_1'), ...values } as never);
	expect(begun({ application_id: 'cli_1' })).toEqual({ caller: user('usr_1'), application: 'cli_1', grant: undefined });
	for (const application_id of [null, undefined]) expect(begun({ application_id }).application).toBeUndefined();
	const grant = { grantId: 'grant_1', scopes: ['contacts:read'] };
	sandbox.store.creationGrants.set('job_1', grant);
	expect(begun({}).grant).toEqual(grant);
});
