import { buildPackage } from '../tools/build.ts';
import { median, type Row, sideBySide } from './measure.ts';
import { openLaboratory } from './peers/processes.ts';

const rounds = 9;

/** A new process creates one record, which includes loading the node, beside HubSpot's node. */
export async function benchFirstRun(): Promise<Row> {
	await buildPackage();
	const near = { ms: 0, tls: true };
	const laboratory = await openLaboratory([near]);
	try {
		await laboratory.set({ contacts: 1 });
		const { ours: node, bare: hubspot } = await sideBySide(rounds, async (which) => {
			const worker = await laboratory.hire(which === 'ours' ? 'CRM Platform' : 'HubSpot');
			const { ms, records, error } = await worker.measure({ route: laboratory.routeOver(near), task: 'create', count: 1 });
			await worker.stop();
			if (records !== 1) throw new Error(error ?? 'No record was created.');
			return ms;
		});
		return { label: 'first run of a process, one record', unit: 'ms', ours: median(node), bare: median(hubspot), max: { ratio: 1.1 } };
	} finally {
		await laboratory.close();
	}
}
