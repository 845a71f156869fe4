import { serve } from "./runtime/serve.ts"

serve(process.env)
