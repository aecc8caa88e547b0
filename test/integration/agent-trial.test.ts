import { allWrites, callerOf, suppliedTools } from './agent-tools.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();

test('trial', async () => {
	const call = await callerOf(sandbox.credential, { writes: allWrites });
	const log = async (tool: string, given: unknown) => {
		const answer = await call(tool, given);
		process.stdout.write(`${tool} ${JSON.stringify(given)}\n   → ${JSON.stringify(answer)}\n`);
		return answer;
	};
	for (const tool of await suppliedTools(sandbox.credential, { writes: allWrites })) process.stdout.write(`${tool.name}: ${tool.description} ${Object.keys(tool.schema.shape)}\n`);
	await log('search', { kind: 'contact', limit: 2 });
	await log('search', { kind: 'deal', filters: { status: 'open', amount: { gte: 1000 } }, sort: '-amount', limit: 2 });
	await log('describe', { kind: 'deal' });
	await log('describe', { kind: 'deal', field: 'stage' });
	await log('count', { kind: 'deal', group_by: 'stage', sum: 'amount' });
	await log('count', { kind: 'deal', group_by: 'owner' });
	await log('count', { kind: 'contact' });
	await log('search', {});
	await log('search', { kind: 'deals', filters: { stagee: 'x' } });
	await log('search', { kind: 'deal', filters: { stage: 'Wonn' } });
	await log('search', { kind: 'deal', filters: { owner: 'Nobody' } });
	const made = await log('change', { kind: 'contact', action: 'create', values: { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@x.example', company: 'Altamira' } });
	await log('get', { kind: 'contact', record: 'Ada Lovelace' });
	await log('change', { kind: 'contact', action: 'update', record: 'ada@x.example', values: { 'Job Title': 'Countess', lifecycle_stage: 'Customer' } });
	await log('change', { kind: 'contact', action: 'update', record: 'ada@x.example', values: { status: 'won', name: 'x' } });
	await log('change', { kind: 'contact', action: 'delete', record: 'all' });
	await log('change', { kind: 'contact', action: 'create', values: { email: 'ada@x.example' } });
	await log('change', { kind: 'contact', action: 'update', record: made[0]!.id, values: { owner: 'Nobody' } });
	const [deal] = await log('search', { kind: 'deal', filters: { status: 'open' }, limit: 1 });
	await log('act', { kind: 'deal', action: 'moveToStage', record: deal!.id, values: { stage: 'Proposal' } });
	await log('act', { kind: 'deal', action: 'lose', record: deal!.id, values: { lost_reason: 'price' } });
	await log('act', { kind: 'message', action: 'send', values: { channel: 'email', to: ['a@b.example'], subject: 'Hi', text: 'Hello' } });
	const ask = await callerOf(sandbox.credential, { writes: allWrites, askBeforeWriting: true });
	const given = { kind: 'deal', action: 'update', record: deal!.id, values: { amount: 4321, title: '={{ 1+1 }}' } };
	const [preview] = await ask('change', given);
	process.stdout.write(`${JSON.stringify(preview)}\n`);
	for (let i = 0; i < 2; i++) process.stdout.write(`${JSON.stringify(await ask('change', { ...given, token: preview!.token }))}\n`);
	process.stdout.write(`${JSON.stringify(await ask('change', { ...given, values: { amount: 1 }, token: preview!.token }))}\n`);
}, 60_000);
