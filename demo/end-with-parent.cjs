/*
 * Loaded into n8n before n8n itself. The pipe at descriptor 3 closes when the process that started
 * n8n is gone, however it ended; n8n must not stay behind.
 */
const { Socket } = require('node:net');

const parent = new Socket({ fd: 3 });
parent.on('close', () => process.kill(process.pid, 'SIGTERM'));
parent.on('error', () => parent.destroy());
parent.resume();
parent.unref();
